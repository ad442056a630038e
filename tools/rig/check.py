"""Print what the emulator recorded for each path of the emulated zones, and by how much each tool is off."""

import azlatency as az

study = az.load("emulated-zones")
links, records = az.studies.configured_links(study), az.studies.recorded_round_trips(study)
steps = az.stats.emulated_differences(links, records, az.latency(study))
for step in steps[steps["holds"].notna()].itertuples():
    place = "inside" if step.holds else "outside"
    print(
        f"{step.method:18} {step.path}: recorded {step.recorded / 1e3:6.1f} µs, "
        f"error {step.error / 1e3:+5.1f} µs, {place} its interval"
    )

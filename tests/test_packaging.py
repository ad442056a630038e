"""The project's set-up files agree with each other, and a newcomer's clone can be built from them."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.places import ROOT
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import azlatency

# Packages that conda-forge carries under another name: {conda-forge: pyproject}.
CONDA_NAMES = {"python-duckdb": "duckdb"}
# Belong to the environment, not to the project's dependencies.
CONDA_ONLY = {"python", "pip"}
# The packages that every environment of the project has, whatever else changes.
FIXED = {"jupyterlab", "pandas", "numpy", "scipy", "matplotlib", "seaborn", "papermill", "nbval"}


#: An extra that others contain.
OWN = "azlatency[report]"


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pyproject_requirements(*extras: str) -> dict[str, SpecifierSet]:
    """The bounds of the dependencies and of some extras, by default all."""
    optional = project()["optional-dependencies"]
    tables = [project()["dependencies"], *(optional[extra] for extra in extras or optional)]
    requirements = [Requirement(text) for table in tables for text in table if text != OWN]
    specifiers = {canonicalize_name(r.name): r.specifier for r in requirements}
    assert len(specifiers) == len(requirements), "a package stands in pyproject.toml twice"
    return specifiers


def conda_requirements() -> dict[str, SpecifierSet]:
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    items = re.findall(r"^ +- ([a-z][^\s:]*)$", text.partition("\ndependencies:\n")[2], re.MULTILINE)
    requirements = [Requirement(item) for item in items]
    return {canonicalize_name(CONDA_NAMES.get(r.name, r.name)): r.specifier for r in requirements}


def locked() -> dict[str, list[Requirement]]:
    """The pins by package; a universal lock may hold one per range of Python versions or platforms."""
    pins: dict[str, list[Requirement]] = {}
    for entry in lock_entries():
        pin = Requirement(entry[0])
        pins.setdefault(canonicalize_name(pin.name), []).append(pin)
    return pins


def lock_entries() -> list[list[str]]:
    """The entries of the lock: a pin, followed by its hashes."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", "")
    return [line.split("    --hash=") for line in text.splitlines() if line and not line.lstrip().startswith("#")]


def pinned_version(pin: Requirement) -> Version:
    (specifier,) = pin.specifier
    assert specifier.operator == "==", f"{pin} is not a pin"
    return Version(specifier.version)


def test_environment_and_pyproject_name_the_same_packages_and_bounds() -> None:
    conda = conda_requirements()
    assert conda.pop("python") == SpecifierSet(project()["requires-python"])
    wanted = pyproject_requirements("report", "test", "scale", "lab")
    assert set(conda) - CONDA_ONLY == set(wanted)
    assert {name: conda[name] for name in wanted} == wanted


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    for name, specifiers in pyproject_requirements().items():
        assert sorted(s.operator for s in specifiers) == ["<", ">="], f"{name}{specifiers}"


@pytest.mark.parametrize("name", sorted(FIXED))
def test_fixed_packages_are_in_all_three_files(name: str) -> None:
    assert name in pyproject_requirements()
    assert name in conda_requirements()
    assert name in locked()


def test_lock_covers_every_direct_dependency_within_its_bounds() -> None:
    pins = locked()
    for bounds in (pyproject_requirements(), conda_requirements()):
        for name, specifier in bounds.items():
            if name in CONDA_ONLY:
                continue
            assert name in pins, f"{name} is not in requirements.lock: make lock"
            for pin in pins[name]:
                assert pinned_version(pin) in specifier, f"{pin} is outside {specifier}: make lock"


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_lock_pins_each_direct_dependency_once_per_python(python: str) -> None:
    environment = {"python_version": python, "python_full_version": f"{python}.1"}
    pins = locked()
    for name in pyproject_requirements():
        chosen = [p for p in pins[name] if p.marker is None or p.marker.evaluate(environment)]
        assert len(chosen) == 1, f"{name} on Python {python}: {[str(p) for p in chosen]}"


def test_every_pin_of_the_lock_has_hashes() -> None:
    for pin, *hashes in lock_entries():
        assert hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64} ?", digest) for digest in hashes), pin


def test_lock_names_no_index_and_no_local_path() -> None:
    for number, line in enumerate((ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines(), 1):
        assert not re.search(r"://|--(extra-)?index|--find-links|file:| @ |\s/\w|\.(org|com|io|net)\b", line), (
            f"requirements.lock:{number}: {line}"
        )


def test_report_and_test_environment_is_without_jupyterlab() -> None:
    extras = project()["optional-dependencies"]
    assert extras["lab"][0] == extras["test"][0] == OWN
    assert [Requirement(r).name for r in extras["lab"][1:]] == ["jupyterlab"]
    assert "jupyterlab" not in {Requirement(r).name for r in project()["dependencies"] + extras["test"]}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^EXTRAS \?= test,scale$", makefile, re.MULTILINE)


def test_the_command_is_installed_and_the_only_plug_ins_are_parsers() -> None:
    assert project()["scripts"] == {"azlatency": "azlatency.__main__:main"}
    assert project()["entry-points"].keys() == {"azlatency.parsers"}


def test_processed_data_is_ignored_but_for_its_readme() -> None:
    assert (ROOT / "data/processed/README.md").is_file()
    rules = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert rules.index("/data/processed/*") < rules.index("!/data/processed/README.md")
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")

    def ignored(path: str) -> bool:
        done = subprocess.run(["git", "check-ignore", "-q", "--no-index", path], cwd=ROOT, check=False)
        assert done.returncode in (0, 1)
        return done.returncode == 0

    assert ignored("data/processed/emulated-zones/runs.parquet")
    assert ignored("build/site/index.html")
    assert not ignored("data/processed/README.md")
    assert not ignored("data/raw/emulated-zones/sockperf/r1/az1a-az2a_pp_tcp.log")


def test_logs_are_stored_byte_for_byte() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    paths = ["data/raw/westeurope-azure-cni/az1-az3/sockperf.log", "tests/fixtures/ping/windows.log"]
    done = subprocess.run(
        ["git", "check-attr", "text", "--", *paths], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [f"{path}: text: unset" for path in paths]


def test_make_lists_its_targets() -> None:
    if shutil.which("make") is None:
        pytest.skip("no make")
    done = subprocess.run(["make"], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout == subprocess.run(["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for target in ("setup", "report", "docs", "test", "test-slow", "notebooks", "lint", "lab", "lock", "clean"):
        assert re.search(rf"^ +make {target} +\w", done.stdout, re.MULTILINE), f"make help does not explain {target}"


def test_ci_script_is_executable_and_runs_what_a_change_can_break() -> None:
    script = ROOT / ".ci/run"
    assert script.stat().st_mode & stat.S_IXUSR
    lines = script.read_text(encoding="utf-8").splitlines()
    commands = [line.partition(" 2>")[0] for line in lines if line.startswith("make ")]
    assert commands == ["make test-all", "make report", "make docs", "make fixtures"]


def test_binder_finds_what_it_builds_from() -> None:
    """Without a folder named .binder or binder, repo2docker would build the Dockerfile, which has no Jupyter."""
    script = ROOT / ".binder" / "postBuild"
    assert script.stat().st_mode & stat.S_IXUSR and not (ROOT / "binder").exists()
    lines = script.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "#!/bin/sh" and "set -e" in lines
    assert "python -m pip install -e '.[lab]'" in lines and "python -m azlatency import --all" in lines
    version = (ROOT / ".binder" / "runtime.txt").read_text(encoding="utf-8").strip().removeprefix("python-")
    assert f"Programming Language :: Python :: {version}" in project()["classifiers"]
    assert "nodefaults" in (ROOT / "environment.yml").read_text(encoding="utf-8")


def find_python(folder: Path, *candidates: str) -> subprocess.CompletedProcess[str]:
    """Run tools/find-python.sh with a PATH on which there is nothing but `folder`."""
    shell = shutil.which("sh")
    assert shell
    return subprocess.run(
        [shell, str(ROOT / "tools/find-python.sh"), *candidates],
        env={**os.environ, "PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def fake_python(folder: Path, name: str, answer: str) -> None:
    script = folder / name
    script.write_text(f"#!{shutil.which('sh')}\necho '{answer}'\n", encoding="utf-8")
    script.chmod(0o755)


needs_sh = pytest.mark.skipif(os.name == "nt" or shutil.which("sh") is None, reason="needs a POSIX shell")


@needs_sh
@pytest.mark.parametrize(
    ("pythons", "line"),
    [
        ({}, "no Python found"),
        ({"python3": "old 3.9"}, "python3 is 3.9"),
        ({"python3": "bare 3.12"}, "apt install python3.12-venv"),
        ({"python3": "old 3.10", "python3.11": "bare 3.11"}, "apt install python3.11-venv"),
    ],
)
def test_without_a_usable_python_one_line_says_what_to_install(
    tmp_path: Path, pythons: dict[str, str], line: str
) -> None:
    for name, answer in pythons.items():
        fake_python(tmp_path, name, answer)
    done = find_python(tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert line in done.stderr


@needs_sh
def test_a_newer_python_beside_an_old_python3_is_taken(tmp_path: Path) -> None:
    fake_python(tmp_path, "python3", "old 3.9")
    fake_python(tmp_path, "python3.12", "good")
    fake_python(tmp_path, "python3.11", "good")
    done = find_python(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{tmp_path}/python3.12\n", "")
    assert find_python(tmp_path, "python3.11").stdout == f"{tmp_path}/python3.11\n"


@needs_sh
def test_the_probe_itself_recognises_this_python(tmp_path: Path) -> None:
    (tmp_path / "python3").symlink_to(sys.executable)
    assert find_python(tmp_path).stdout == f"{tmp_path}/python3\n"


# --- what is published


def run(*words: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments; fail with its output if it fails."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def build(kind: str, source: Path, target: Path) -> Path:
    """Build a ``wheel`` or an ``sdist`` without an isolated environment, which would need a package index."""
    run("-m", "hatchling", "build", "-t", kind, "-d", target, cwd=source)
    (path,) = target.iterdir()
    return path


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which the content of the wheel is imported, not the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return {"PYTHONPATH": str(folder), "AZLATENCY_DATA": ""}


def test_the_wheel_contains_what_the_commands_need_and_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        metadata = packed.read(f"azlatency-{azlatency.__version__}.dist-info/METADATA").decode()
    for folder, pattern in (("notebooks", "*.ipynb"), ("docs/concepts", "*.md"), ("docs/ci", "*")):
        wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).glob(pattern)}
        assert {f"azlatency/project/{name}" for name in wanted} <= names
    assert {"azlatency/py.typed", "azlatency/site/templates/azlatency/page.html.j2"} <= names
    assert {"azlatency/more_tools/wrk.py", f"azlatency-{azlatency.__version__}.dist-info/entry_points.txt"} <= names
    assert {name.split("/")[0] for name in names} == {"azlatency", f"azlatency-{azlatency.__version__}.dist-info"}
    readme = metadata.partition("\n\n")[2]
    assert not re.findall(r"\]\((?!https://|#)[^)]*\)", readme), "a relative link leads nowhere on a package index"
    pages, images = (
        re.findall(rf"\]\(https://{host}/v{re.escape(azlatency.__version__)}/([^)#]+)[^)]*\)", readme)
        for host in (r"github\.com/[\w/]+/blob", r"raw\.githubusercontent\.com/[\w/]+")
    )
    assert "docs/install.md" in pages and images == ["docs/images/report.png"]
    assert not [path for path in (*pages, *images) if not (ROOT / path).exists()]
    assert not re.search(r"<(img|a)\b", readme), "its address would stay relative"


@pytest.mark.costly
def test_init_needs_only_the_wheel(installed: dict[str, str], tmp_path: Path) -> None:
    run("-m", "azlatency", "init", "zones", cwd=tmp_path, **installed)
    names = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert {path.name for path in (tmp_path / "zones" / "notebooks").iterdir()} == names


@pytest.mark.slow
def test_an_installed_wheel_works_in_an_empty_folder(installed: dict[str, str], tmp_path: Path) -> None:
    def azlatency_in_folder(*words: object) -> None:
        run("-m", "azlatency", *words, cwd=tmp_path, **installed)

    azlatency_in_folder("import", ROOT / "tests" / "compare" / "base.zip", "--study", "mine")
    azlatency_in_folder("report", "--study", "mine", "--out", "site")
    assert (tmp_path / "site" / "mine" / "01_latency.html").is_file()
    assert (tmp_path / "site" / "docs" / "zones.html").is_file()
    azlatency_in_folder(
        "plan", "--host", "1=a@10.0.0.4", "--host", "2=b@10.0.1.4", "--tool", "ping", "--out", "measure.sh"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "measure.sh", "site"]


@pytest.mark.slow
def test_the_source_distribution_builds_and_tests_itself(tmp_path: Path) -> None:
    archive = build("sdist", ROOT, tmp_path / "sdist")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    source = tmp_path / f"azlatency-{azlatency.__version__}"
    build("wheel", source, tmp_path / "wheel")
    tests = ("tests/test_notebooks.py", "tests/test_packaging.py", "tests/logs/test_fixtures.py")
    run("-m", "pytest", "-q", "-m", "not slow", *tests, cwd=source, PYTHONPATH=str(source))


def test_the_version_stands_in_one_place_and_the_changelog_dates_it() -> None:
    version = azlatency.__version__
    assert project()["dynamic"] == ["version", "readme"]
    heading = re.search(r"^## \[(.+)\] – (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert heading and heading[1] == version
    assert yaml.safe_load((ROOT / "conda-recipe/recipe.yaml").read_text())["context"]["version"] == version
    classifiers = {text.rpartition(" ")[2] for text in project()["classifiers"] if ":: Python :: 3." in text}
    assert classifiers == {"3.11", "3.12", "3.13", "3.14"}


def test_the_conda_recipe_has_the_bounds_of_the_project() -> None:
    recipe = yaml.safe_load((ROOT / "conda-recipe" / "recipe.yaml").read_text())["requirements"]
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    def requirements(texts: list[str]) -> set[Requirement]:
        return {Requirement(text) for text in texts}

    python = f"python{project()['requires-python']}"
    report = project()["optional-dependencies"]["report"]  # conda has no extras
    assert requirements(recipe["run"]) == requirements([python, *project()["dependencies"], *report])
    assert requirements(recipe["host"]) == requirements([python, "pip", *content["build-system"]["requires"]])


def test_the_container_and_the_matrix_follow_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    versions = dict(re.findall(r"^(UV|NOX)_VERSION := ([\d.]+)$", makefile, re.MULTILINE))
    docker = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert f"uv=={versions['UV']} " in docker and "USER analyst" in docker
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert f"AS {container['build']['target']}\n" in docker
    assert "nox==$(NOX_VERSION)" in makefile and (ROOT / "noxfile.py").is_file()


def workflow() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    return content


def test_the_workflow_uses_make_pinned_actions_and_the_least_permissions() -> None:
    content = workflow()
    assert content["permissions"] == {"contents": "read"}
    for job in content["jobs"].values():
        assert "permissions" not in job and job["timeout-minutes"] <= 120
        for step in job["steps"]:
            assert "run" not in step or re.fullmatch(r"make [\w-]+( PYTHON=python)?", step["run"])
            assert "uses" not in step or re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step["uses"])
            assert "checkout" not in step.get("uses", "") or step["with"] == {"persist-credentials": False}
    assert content["jobs"]["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]


def test_hooks_and_issue_forms_are_valid() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repo["repo"] for repo in hooks] == ["local"], "the versions of the tools are those of the lock"
    for form in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")):
        content = yaml.safe_load(form.read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= set(content), form.name
        ids = [field["id"] for field in content["body"] if field["type"] != "markdown"]
        assert ids and len(ids) == len(set(ids)), form.name
        assert all(field["attributes"] for field in content["body"]), form.name

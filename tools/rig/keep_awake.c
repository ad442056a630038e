/* Keep a core from sleeping and use nothing of its caches. A pause instruction would make a hypervisor take the core away. */
int main(void) {
    for (;;) __asm__ volatile("");
}

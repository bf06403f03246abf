/*
 * Stands for an emulator with version VERSION of the plugin interface: has the functions of that version, with the signatures
 * of that version, loads a plugin as emulators do, and "runs" the factorial of 5 block by block.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if VERSION >= 2
#define OLDEST 2
#else
#define OLDEST 0
#endif

struct insn {
    uint64_t address;
    size_t len;
    const char *bytes;
};
struct tb {
    size_t count;
    const struct insn *insns;
    void (*run)(unsigned, void *);
    void *data;
};
struct info {
    const char *target;
    struct {
        int min, cur;
    } version;
    bool system;
    int processors, most;
};

static void (*translation)(uint64_t, struct tb *);
static void (*processor)(uint64_t, unsigned);
static void (*ending)(uint64_t, void *);
static void (*calling)(uint64_t, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                       uint64_t);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*cb)(uint64_t, struct tb *)) { translation = cb; }
void qemu_plugin_register_vcpu_init_cb(uint64_t id, void (*cb)(uint64_t, unsigned)) { processor = cb; }
void qemu_plugin_register_vcpu_exit_cb(uint64_t id, void (*cb)(uint64_t, unsigned)) {}
void qemu_plugin_register_atexit_cb(uint64_t id, void (*cb)(uint64_t, void *), void *data) { ending = cb; }
void qemu_plugin_register_vcpu_syscall_cb(uint64_t id, void *cb) { calling = cb; }
void qemu_plugin_register_vcpu_syscall_ret_cb(uint64_t id, void *cb) {}
void qemu_plugin_register_vcpu_tb_exec_cb(struct tb *tb, void (*cb)(unsigned, void *), int flags, void *data)
{
    tb->run = cb;
    tb->data = data;
}
void qemu_plugin_register_vcpu_mem_cb(void *insn, void *cb, int flags, int which, void *data) {}
size_t qemu_plugin_tb_n_insns(const struct tb *tb) { return tb->count; }
const struct insn *qemu_plugin_tb_get_insn(const struct tb *tb, size_t n) { return tb->insns + n; }
size_t qemu_plugin_insn_size(const struct insn *insn) { return insn->len; }
uint64_t qemu_plugin_insn_vaddr(const struct insn *insn) { return insn->address; }
void *qemu_plugin_insn_haddr(const struct insn *insn) { return (void *)insn->bytes; }
unsigned qemu_plugin_mem_size_shift(uint32_t info) { return 3; }
bool qemu_plugin_mem_is_store(uint32_t info) { return false; }
#if VERSION >= 3
size_t qemu_plugin_insn_data(const struct insn *insn, void *into, size_t len)
{
    size_t n = len < insn->len ? len : insn->len;
    memcpy(into, insn->bytes, n);
    return n;
}
#else
const void *qemu_plugin_insn_data(const struct insn *insn) { return insn->bytes; }
#endif
#if VERSION >= 2
void *qemu_plugin_get_registers(void) { return NULL; }
#endif
#if VERSION >= 4
void *qemu_plugin_read_memory_vaddr(uint64_t address, size_t len) { return NULL; }
#endif
#if VERSION >= 5
bool qemu_plugin_write_memory_vaddr(uint64_t address, void *bytes) { return false; }
#endif
#if VERSION >= 6
void qemu_plugin_set_pc(uint64_t address) {}
#endif

/* mov $1,%eax; mov $5,%ecx; l: imul %ecx,%eax; dec %ecx; jnz l; mov %eax,%edi; mov $231,%eax; syscall */
static const struct insn code[] = {
    {0x1000, 5, "\xb8\x01\0\0\0"}, {0x1005, 5, "\xb9\x05\0\0\0"}, {0x100a, 3, "\x0f\xaf\xc1"}, {0x100d, 2, "\xff\xc9"},
    {0x100f, 2, "\x75\xf9"},       {0x1011, 2, "\x89\xc7"},       {0x1013, 5, "\xb8\xe7\0\0\0"}, {0x1018, 2, "\x0f\x05"},
};

int main(int argc, char **argv)
{
    char *plugin = NULL, *memory = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--version"))
            return puts("stub version " __DATE__) < 0;
        if (!strcmp(argv[i], "-help"))
            return puts("-plugin [file=]<file>[,<argname>=<argvalue>]") < 0;
        if (!strcmp(argv[i], "-plugin"))
            plugin = argv[++i];
    }
    if (!plugin || strncmp(plugin, "file=", 5) || !(memory = strchr(plugin, ',')))
        return 2;
    *memory++ = 0;
    void *library = dlopen(plugin + 5, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    int version = *(int *)dlsym(library, "qemu_plugin_version");
    if (version < OLDEST || version > VERSION)
        return fprintf(stderr, "the plugin is for version %d, this is %d\n", version, VERSION), 1;
    int (*install)(uint64_t, struct info *, int, char **) = dlsym(library, "qemu_plugin_install");
    struct info info = {"x86_64", {OLDEST, VERSION}, false, 0, 0};
    if (install(1, &info, 1, &memory))
        return fprintf(stderr, "qemu_plugin_install returned an error\n"), 1;
    struct tb blocks[] = {{5, code, 0, 0}, {3, code + 2, 0, 0}, {3, code + 5, 0, 0}};
    processor(1, 0);
    for (int n = 0; n < 3; n++) {
        translation(1, blocks + n);
        for (int times = n == 1 ? 4 : 1; times; times--)
            blocks[n].run(0, blocks[n].data);
    }
    calling(1, 0, 231, 120, 0, 0, 0, 0, 0, 0, 0);
    ending(1, NULL);
    return 120;
}

/* Loads the library that is its argument, apart from all others, and calls its `run`: how plugins and Python's modules come
   into a program. Starts a thread before, so that the program is one on threads. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void *nothing(void *argument) {
    return argument;
}

int main(int count, char **arguments) {
    pthread_t thread;
    if (count != 2 || pthread_create(&thread, NULL, nothing, NULL) != 0) return 2;
    pthread_join(thread, NULL);
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fputs(dlerror(), stderr);
        return 1;
    }
    int (*run)(void) = (int (*)(void))dlsym(library, "run");
    printf("%d\n", run());
    return 0;
}

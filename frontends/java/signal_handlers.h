// The JVM's signal handlers, which drivers replace by their own: PoCL's for SIGFPE skips an integer division by zero,
// where Java throws ArithmeticException; LLVM's, for nearly all signals, swallow one each.
#ifndef HEARTH_FRONTENDS_JAVA_SIGNAL_HANDLERS_H_
#define HEARTH_FRONTENDS_JAVA_SIGNAL_HANDLERS_H_

namespace hearth::java {

// Once, before any driver is opened.
void RememberSignalHandlers();

// After each call that may have opened a driver or compiled: puts the remembered ones back. SIGFPE is offered to the
// JVM first and then to the driver, whose kernels need it. Any thread.
void KeepSignalHandlers();

}  // namespace hearth::java

#endif  // HEARTH_FRONTENDS_JAVA_SIGNAL_HANDLERS_H_

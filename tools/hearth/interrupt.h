// ^C in long verbs: they stop between two pieces of work, keep finished ones and exit with 130.
#ifndef HEARTH_TOOLS_HEARTH_INTERRUPT_H_
#define HEARTH_TOOLS_HEARTH_INTERRUPT_H_

namespace hearth {

// From now on the first ^C only sets a flag; a second one ends the program as usual.
void CatchInterrupts();
bool IsInterrupted();

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_INTERRUPT_H_

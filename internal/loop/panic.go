package loop

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError is returned by Try after a panic.
type PanicError struct {
	Value any    // the argument of panic
	Stack string // of the goroutine that panicked; not part of the text
}

// Error has the panic's value but not its stack.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// StackOf returns the stack of the panic in an error's chain, or "" when there is none.
func StackOf(err error) string {
	var bad *PanicError
	if errors.As(err, &bad) {
		return bad.Stack
	}
	return ""
}

// Try calls a function and returns a panic of it as a PanicError. It cannot catch panics of other goroutines.
func Try(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: string(debug.Stack())}
		}
	}()
	return f()
}

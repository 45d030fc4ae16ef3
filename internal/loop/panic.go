package loop

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError is a panic as an error.
type PanicError struct {
	Value any
	Stack string // of the goroutine that panicked; not part of the text
}

// Error is one line.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// StackOf is the stack of the panic in an error's chain, "" without one.
func StackOf(err error) string {
	var bad *PanicError
	if errors.As(err, &bad) {
		return bad.Stack
	}
	return ""
}

// Try calls a function; a panic of it is returned as a PanicError.
func Try(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: string(debug.Stack())}
		}
	}()
	return f()
}

// Package exampletest gives runnable Examples the methods of testing.T, so that an Example can use the same kits as a
// test, with a real PostgreSQL and a real event store node:
//
//	func Example() {
//		t := exampletest.New()
//		defer t.Done()
//		kit := storetest.New(t)
//		// ...
//	}
package exampletest

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
)

// T is the test of one Example. For one goroutine.
type T struct {
	ctx      context.Context //nolint:containedctx // testing.T has one too
	cancel   context.CancelFunc
	cleanups []func()
}

// The kits need the methods of pgtest.T.
var _ pgtest.T = (*T)(nil)

// New begins an Example. Done must be called.
func New() *T {
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Limit)
	return &T{ctx: ctx, cancel: cancel}
}

// Done cancels the context and then calls the functions given to Cleanup, the last one first.
func (t *T) Done() {
	t.cancel()
	for _, f := range slices.Backward(t.cleanups) {
		f()
	}
}

// Context is cancelled by Done, or after a minute.
func (t *T) Context() context.Context { return t.ctx }

// Must ends the Example with a panic unless err is nil.
func (t *T) Must(err error) {
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// Helper does nothing: an Example reports no lines.
func (t *T) Helper() {}

// Cleanup keeps a function for Done.
func (t *T) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Logf writes to standard error, because the go command compares standard output.
func (t *T) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// Errorf writes to standard output, which makes the Example fail: its Output comment has no such line.
func (t *T) Errorf(format string, args ...any) { fmt.Printf("error: "+format+"\n", args...) }

// Fatalf panics, because an Example cannot end in another way before its last line.
func (t *T) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

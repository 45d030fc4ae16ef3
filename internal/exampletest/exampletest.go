// Package exampletest gives runnable Examples what tests are given by the testing package, so that an Example can use
// the same kits as a test and stand on a real PostgreSQL and a real event store node:
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
	"time"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// T is the test of one Example. It is for one goroutine.
type T struct {
	ctx      context.Context //nolint:containedctx // as testing.T has it
	cancel   context.CancelFunc
	cleanups []func()
}

// T serves the kits.
var _ pgtest.T = (*T)(nil)

// patience is how long an Example may take: one that waits in vain fails, and does not hang.
const patience = time.Minute

// New begins an Example.
func New() *T {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	return &T{ctx: ctx, cancel: cancel}
}

// Done ends the Example: the context first, then what Cleanup was given, the last first.
func (t *T) Done() {
	t.cancel()
	for _, f := range slices.Backward(t.cleanups) {
		f()
	}
}

// Context lives until Done, a minute at most.
func (t *T) Context() context.Context { return t.ctx }

// Must ends the Example when err is not nil.
func (t *T) Must(err error) {
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// Helper implements pgtest.T.
func (t *T) Helper() {}

// Cleanup implements pgtest.T.
func (t *T) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Logf writes to the standard error, since the standard output is compared.
func (t *T) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// Errorf writes to the standard output, where no Example expects it: that fails the Example.
func (t *T) Errorf(format string, args ...any) { fmt.Printf("error: "+format+"\n", args...) }

// Fatalf panics: an Example cannot end in another way before its last line.
func (t *T) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

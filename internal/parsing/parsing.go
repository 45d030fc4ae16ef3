// Package parsing bounds the work that bytes from outside can cause. Its list names every parser of the program that
// reads bytes of a tenant, a customer, a device or another system, with the bounds that it keeps. A parser whose time
// or memory its input can drive takes a turn of the organization (Turns), and ends with the request. A parser that
// others wrote, and that nothing in the process can stop, runs in a child process with limits (InChild). Source:
// docs/rules/engineering.md#parsers.
package parsing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Sender says who chooses the bytes that a parser reads.
type Sender string

// The senders, the most hostile first. Operator is the person who starts the program; Ourselves wrote the bytes
// earlier.
const (
	Anybody   Sender = "anybody"
	Tenant    Sender = "a tenant"
	Device    Sender = "a router, CPE or ONU"
	Provider  Sender = "an outside system"
	Operator  Sender = "the operator"
	Ourselves Sender = "the program itself"
)

// Parser is one kind of bytes and the bounds of reading it.
type Parser struct {
	Name   string
	Sender Sender
	Files  []string // that parse it, relative to the module; "folder/..." is everything below
	Bytes  int64    // of one input at most; 0 = bounded as Bounds says
	Bounds string   // what bounds depth, count and time, in words
	Turn   bool     // one input is read with a turn of the organization
	Child  Limits   // of the process that reads it; zero = this process
}

// Limits are those of a child process for one input.
type Limits struct {
	CPU    time.Duration // whole seconds of a processor
	Memory int64         // bytes that it may write to
}

// Bounds of the turns. Four children of the largest memory limit take one GiB.
const (
	turns     = 4
	turnLine  = 8 // that wait for one organization
	turnWait  = 10 * time.Second
	childWait = 20 * time.Second // for a child on a busy machine; its own limit counts processor time
	busyRetry = 5 * time.Second
)

// Turns gives organizations their turns at the parsers that take long. One program has one. Safe for concurrent use.
type Turns struct{ slots *fair.Slots }

// NewTurns makes the turns of a program.
func NewTurns() *Turns { return &Turns{fair.NewBoundedSlots(turns, turnLine)} }

// Run calls read with a turn of the organization; read returns early when its context ends. Fails: input_too_large,
// parsing_busy, and as read does.
func (t *Turns) Run(
	ctx context.Context, org id.Organization, p Parser, size int, read func(context.Context) error,
) error {
	if p.Bytes > 0 && int64(size) > p.Bytes {
		return errTooLarge(p)
	}
	waiting, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	switch err := t.slots.Enter(waiting, org); {
	case err == nil:
	case errors.Is(err, fair.ErrFull), ctx.Err() == nil:
		return errBusy(err)
	default:
		return fmt.Errorf("wait to read a %s: %w", p.Name, context.Cause(ctx))
	}
	defer t.slots.Leave(org)
	return read(ctx)
}

// errTooLarge refuses an input that is longer than its parser reads.
func errTooLarge(p Parser) error {
	return failure.New(failure.Invalid, "input_too_large", "This is too large. At most %d bytes are read.", p.Bytes)
}

// errTooComplex refuses an input that used up the limits of its child process.
func errTooComplex(cause error) error {
	return &failure.Error{
		Kind: failure.Invalid, Code: "input_too_complex", Cause: cause,
		Message: "This takes too much time or memory to read. Make it simpler, or save it again with another program.",
	}
}

// errBusy asks the client to come again.
func errBusy(cause error) error {
	return failure.NewUnavailable("parsing_busy",
		"Too many files and scripts are being read now. Please try again in a moment.", busyRetry, cause)
}

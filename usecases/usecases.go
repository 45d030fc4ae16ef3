// Package usecases is what several commands and reads make together, without HTTP. Each area below has its own, as
// plain functions over the bus, the read models and the vault: endpoints, the command line, imports and other programs
// call the same. A use case reads what a stream has already decided in order to fill its commands; it never decides
// itself what a stream must decide, since the answer may have changed when its command arrives.
package usecases

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Asked is who asks for a use case, on whose behalf, and what makes a repeat of it meet what the first try made. Use
// cases take it as a value; it is safe for concurrent use.
type Asked struct {
	// Meta goes with the use case's main command. Its OrgID is the organization that is asked for; zero = the platform.
	Meta commands.Meta
	// Keyed says that the command id comes from a key which the caller repeats after a lost answer (Idempotency-Key):
	// what the use case makes then gets ids that derive from it.
	Keyed bool
}

// Org is the organization on whose behalf it is asked.
func (a Asked) Org() id.Organization { return a.Meta.OrgID }

// Step is the metadata of a further command, told apart by a word: ids of events derive from the command's. If-Match
// holds for the main command only.
func (a Asked) Step(word string) commands.Meta {
	m := a.Meta
	m.CorrelationID = m.CommandID.String()
	m.CommandID = id.Derive[id.Command]("step", a.Meta.CommandID.String(), word)
	m.ExpectedRevision = nil
	return m
}

// NewID makes the id of something new, told apart by a word for its kind. Under a key it is the same at each repeat, so
// that a retry after a lost answer meets what the first try made.
func NewID[I ~[16]byte](a Asked, kind string) I {
	if !a.Keyed {
		return id.New[I]()
	}
	return id.Derive[I]("made", kind, a.Meta.CommandID.String())
}

// amendTries bounds how often a change is made again because another one came first.
const amendTries = 4

// Amend executes a command that replaces something whole by what is to change of it. The command holds for the revision
// that it was made from; when somebody else changes the thing meanwhile it is made again, so that two requests about
// different fields both count. With If-Match the caller's revision decides, once. S is the state of the aggregate's
// definition; one of another organization is answered as absent. Fails: concurrent_change.
func Amend[S any, I ~[16]byte](
	ctx context.Context, b *bus.Bus, a Asked, target I, change func(present S) (commands.Command, error),
) (bus.Result, error) {
	for try := 1; ; try++ {
		present, revision, err := bus.LoadOwned[S](ctx, b, a.Org(), target)
		if err != nil {
			return bus.Result{}, err
		}
		command, err := change(present)
		if err != nil {
			return bus.Result{}, err
		}
		meta := a.Meta
		conditional := meta.ExpectedRevision != nil
		if !conditional {
			meta.ExpectedRevision = &revision
		}
		done, err := b.Execute(ctx, command, meta)
		switch {
		case conditional || failure.KindOf(err) != failure.Stale:
			return done, err
		case try == amendTries:
			return done, bus.ErrConcurrentChange()
		}
	}
}

// Package usecases has the operations that take several commands and reads, without HTTP. Each area has its own in a
// package below, as plain functions over the bus, the read models and the vault; endpoints, the command line and other
// programs call the same ones. A use case reads from the log what its commands need. It never decides what a stream
// must decide, since the answer may have changed when its command arrives.
package usecases

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// MaxDaysAhead bounds future dates to about five years: RFC 3339 cannot write a period that ends in the year 10000.
const MaxDaysAhead = 5 * 366

// Asked says who asks for a use case, for which organization, and under which key. Under the same key, a repeat finds
// what the first try made. Use cases take it as a value; it is safe for concurrent use.
type Asked struct {
	// Meta goes with the use case's main command. Its OrgID is the organization that is asked for; zero = the platform.
	Meta commands.Meta
	// Keyed says that the command id comes from a key which the caller repeats after a lost answer (Idempotency-Key).
	// Ids of new things then derive from it.
	Keyed bool
	// Approval names the act that a second person has granted, and which is carried out. Zero = nobody was asked.
	Approval id.Approval
}

// Org is the organization for which the use case is asked; zero = the platform.
func (a Asked) Org() id.Organization { return a.Meta.OrgID }

// Step is the metadata of a further command. word makes the difference between the steps of a use case: command ids,
// and with them event ids, derive from it. If-Match is for the main command only.
func (a Asked) Step(word string) commands.Meta {
	m := a.Meta
	m.CorrelationID = m.CommandID.String()
	m.CommandID = id.Derive[id.Command]("step", a.Meta.CommandID.String(), word)
	m.ExpectedRevision = nil
	return m
}

// NewID makes the id of a new thing of a kind. Under a key it is the same at each repeat, so that a repeat after a lost
// answer finds what the first try made.
func NewID[I ~[16]byte](a Asked, kind string) I {
	if !a.Keyed {
		return id.New[I]()
	}
	return id.Derive[I]("made", kind, a.Meta.CommandID.String())
}

// amendTries bounds how often a change is made again because another one came first.
const amendTries = 10

// Amend changes a part of something by a command that replaces all of it. change makes the command from the present
// state, and the command is valid for the revision of that state only; when another change comes first it is made
// again, so that two requests about different fields both count. With If-Match the caller's revision decides, and there
// is one try. S is the state of the aggregate's definition; a target of another organization is answered as absent.
// Fails: concurrent_change.
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

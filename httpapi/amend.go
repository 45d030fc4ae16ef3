package httpapi

import (
	"context"
	"encoding/json"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// amendTries bounds how often a change is made again because another one came first.
const amendTries = 4

// Amend executes a command that replaces something whole by what the request changes of it. The command holds for the
// revision that it was made from; when somebody else changes the thing meanwhile it is made again, so that two requests
// about different fields both count. With If-Match the caller's revision decides, once.
func Amend[S any, I ~[16]byte](
	ctx context.Context, c *Call, b *bus.Bus, category string, target I,
	change func(present S) (commands.Command, error),
) (bus.Result, error) {
	for try := 1; ; try++ {
		present, revision, err := bus.LoadUnchecked[S](ctx, b, id.Any(target))
		if err != nil {
			return bus.Result{}, err
		}
		command, err := change(present)
		if err != nil {
			return bus.Result{}, err
		}
		meta := c.Meta()
		conditional := meta.ExpectedRevision != nil
		if !conditional {
			meta.ExpectedRevision = &revision
		}
		done, err := b.Execute(ctx, command, meta)
		switch {
		case conditional || failure.KindOf(err) != failure.Stale:
			return done, err
		case try == amendTries:
			return done, failure.NewConflict("concurrent_change",
				"This was changed by somebody else at the same time. Please try again.")
		}
	}
}

// Nulls names the fields that a body gives as null: in a PATCH that takes the value away (RFC 7396), where Decode sees
// no difference to a field that is not given.
func (c *Call) Nulls() map[string]bool {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(c.body, &fields) // Decode has told what is wrong with it
	out := map[string]bool{}
	for name, value := range fields {
		if string(value) == "null" {
			out[name] = true
		}
	}
	return out
}

// Emptied is the text of a patch, an empty one when the field is given as null.
func Emptied(text *string, null bool) *string {
	if null {
		return new(string)
	}
	return text
}

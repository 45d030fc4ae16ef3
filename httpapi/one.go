package httpapi

import (
	"cmp"
	"context"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// One describes how a resource of one kind is read and shown. I is the type of its id, R its row, T its form in the
// API.
type One[I ~[16]byte, R, T any] struct {
	Model   string       // the read model that Read reads
	Missing func() error // the failure for an absent one and for another organization's
	// Read gives the organization's row, nil when there is none.
	Read func(ctx context.Context, org id.Organization, i I) (*R, error)
	Show func(R) T
	// Revision is the row's place in the stream that decides about it, shown as ETag; nil = the resource has none.
	Revision func(R) int64
	// Names lists the ids of other read models that the answer to a write shows.
	Names []Name[R]
}

// Name is an id in an answer that leads to a resource of another read model, which may be behind the one that the
// answer comes from.
type Name[R any] struct {
	// Wait waits a short while until that resource can be read, and reports whether it can. A row without the id is
	// answered true at once.
	Wait func(ctx context.Context, org id.Organization, row R) (shown bool, err error)
	// Withhold takes the id out of a row.
	Withhold func(row *R)
}

// ReadOne answers with the resource that the parameter id of the path names, with its ETag where it has one.
func ReadOne[I ~[16]byte, R, T any](ctx context.Context, c *Call, o One[I, R, T]) error {
	i, err := PathID[I](c, "id", o.Missing)
	if err != nil {
		return err
	}
	row, err := o.Find(ctx, c, i)
	if err != nil {
		return err
	}
	if o.Revision != nil {
		c.SetRevision(uint64(o.Revision(row))) //nolint:gosec // revisions are not negative
	}
	return SendNamed(ctx, c, 200, o.Show(row))
}

// Find reads the row of an id for the host's organization, and fails with Missing when there is none.
func (o One[I, R, T]) Find(ctx context.Context, c *Call, i I) (R, error) {
	row, err := o.Read(ctx, c.Org.ID, i)
	if err != nil || row == nil {
		var none R
		return none, cmp.Or(err, o.Missing())
	}
	return *row, nil
}

// SendOne answers a write with the resource as the read side shows it after the write; with 202 when that takes too
// long. Every id that it shows can be read: one that cannot be read yet after a short while is not shown
// (docs/rules/http.md#read-your-write).
func SendOne[I ~[16]byte, R, T any](
	ctx context.Context, c *Call, status int, o One[I, R, T], i I, done bus.Result,
) error {
	v := Visible{Projection: o.Model, ID: id.Any(i).String(), Result: done}
	return SendVisible(ctx, c, status, v, func(ctx context.Context) (T, error) {
		row, err := o.Find(ctx, c, i)
		if err != nil {
			var none T
			return none, err
		}
		for _, name := range o.Names {
			shown, err := name.Wait(ctx, c.Org.ID, row)
			if err != nil {
				var none T
				return none, err
			}
			if !shown {
				name.Withhold(&row)
			}
		}
		return o.Show(row), nil
	})
}

package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/fair"
)

// Bounds of answers that are large and made whole, such as documents: each takes memory and a core for its time.
// Source: docs/rules/http.md#large-answers.
const (
	places     = 2
	placeLine  = 16               // that wait for one organization
	placeWait  = 15 * time.Second // within requestLimit
	placeRetry = 5 * time.Second
)

// newPlaces makes the places of all organizations.
func newPlaces() *fair.Slots { return fair.NewBoundedSlots(places, placeLine) }

// TakePlace waits until a large answer may be made. A handler calls it before it reads what the answer is made of; the
// place is given back when the answer is made, before it is sent to a client that may be slow. A call that has a place
// keeps it. Fails: too_many_documents.
func (c *Call) TakePlace(ctx context.Context) error {
	if c.leavePlace != nil {
		return nil
	}
	slots, org := c.server.places, c.Org.ID
	waiting, cancel := context.WithTimeout(ctx, placeWait)
	defer cancel()
	err := slots.Enter(waiting, org)
	switch {
	case err == nil:
		c.leavePlace = func() { slots.Leave(org) }
		return nil
	case errors.Is(err, fair.ErrFull), ctx.Err() == nil:
		return failure.NewLimited("too_many_documents",
			"Too many documents and tables are being made now. Please try again in a moment.", placeRetry)
	}
	return err
}

// Made gives the place of a call back whose handler sends a large answer itself, once it is made.
func (c *Call) Made() { c.givePlace() }

// givePlace gives a place back that the call has.
func (c *Call) givePlace() {
	if c.leavePlace != nil {
		c.leavePlace()
		c.leavePlace = nil
	}
}

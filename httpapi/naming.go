package httpapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// SubscriberRef names the subscriber whom a row belongs to, so that a list needs no second call for each row.
type SubscriberRef struct {
	ID            id.Subscriber `json:"id"`
	Name          *string       `json:"name" doc:"null: forgotten"`
	AccountNumber string        `json:"accountNumber"`
}

// StaffRef names the member of staff who did something.
type StaffRef struct {
	ID   id.User `json:"id"`
	Name *string `json:"name" doc:"null: no member of the organization or administrator of the platform any more"`
}

// SubscriberNames gives the names of some subscribers of an organization. One that is not known there is left out.
type SubscriberNames func(context.Context, id.Organization, []id.Subscriber) (map[id.Subscriber]SubscriberRef, error)

// NamesSubscribers is a row or an answer that names subscribers. It asks name for each, and keeps what it gives: nil
// for the zero id and for a subscriber who is not known.
type NamesSubscribers interface {
	NameSubscribers(name func(id.Subscriber) *SubscriberRef)
}

// nameSubscribers fills in the names of all rows of an answer with one lookup. The rows are asked twice: whom they
// name, and to keep the names. Rows of another kind stay as they are.
func nameSubscribers[T any](ctx context.Context, c *Call, rows []T) error {
	if _, named := any(new(T)).(NamesSubscribers); !named || c.server.cfg.Subscribers == nil || c.Org.ID.IsZero() {
		return nil
	}
	each := func(name func(id.Subscriber) *SubscriberRef) {
		for i := range rows {
			any(&rows[i]).(NamesSubscribers).NameSubscribers(name)
		}
	}
	var asked []id.Subscriber
	seen := map[id.Subscriber]bool{{}: true}
	each(func(s id.Subscriber) *SubscriberRef {
		if !seen[s] {
			seen[s] = true
			asked = append(asked, s)
		}
		return nil
	})
	if len(asked) == 0 {
		return nil
	}
	names, err := c.server.cfg.Subscribers(ctx, c.Org.ID, asked)
	if err != nil {
		return err
	}
	each(func(s id.Subscriber) *SubscriberRef {
		if ref, known := names[s]; known {
			return &ref
		}
		return nil
	})
	return nil
}

// SendNamed is Send for an answer that names subscribers, or that has something for staff alone.
func SendNamed[T any](ctx context.Context, c *Call, status int, body T) error {
	one := []T{body}
	forCustomers(c, one)
	if err := nameSubscribers(ctx, c, one); err != nil {
		return err
	}
	return c.Send(status, one[0])
}

package httpapi

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Own says how a route that customers may call keeps each to what is theirs. Staff are not concerned. Every such route
// says it, so that a new one is decided about (docs/rules/identity.md#what-customers-see).
type Own string

// The ways to keep a customer to what is theirs.
const (
	// OwnSignIn is about the caller's own sign-in, and about nobody else's, whatever their role.
	OwnSignIn Own = "sign-in"
	// OwnPath has a subscriber as the parameter id of the path: the server refuses every other one as unknown before
	// the handler is called.
	OwnPath Own = "path"
	// OwnShared is about the organization, and the same for each of its customers. Its answer is StaffSees.
	OwnShared Own = "shared"
	// OwnRows has rows of subscribers: the handler reads those of Call.Scope alone, or asks Call.Sees about the one
	// that it has found. Its answer is StaffSees.
	OwnRows Own = "rows"
)

// StaffSees is an answer, or a row of a list, that customers get as well. ForCustomer takes out what is for staff
// alone: notes, who did it, what other people have to do with it. The server calls it for every answer to a customer.
type StaffSees interface{ ForCustomer() }

// isCustomer reports whether the caller sees the own things alone.
func (c Caller) isCustomer() bool { return c.Role == events.RoleSubscriber }

// IsCustomer reports whether a customer calls, who sees the own things alone.
func (c *Call) IsCustomer() bool { return c.Caller.isCustomer() }

// Scope lists the subscribers whose things the caller sees; nil = all of the organization, for staff. It is never nil
// for a customer.
func (c *Call) Scope() []id.Subscriber {
	if !c.IsCustomer() {
		return nil
	}
	return append([]id.Subscriber{}, c.Caller.Own...)
}

// Sees reports whether the caller sees what is a subscriber's. What belongs to no subscriber is for staff.
func (c *Call) Sees(s id.Subscriber) bool {
	return !c.IsCustomer() || !s.IsZero() && slices.Contains(c.Caller.Own, s)
}

// Among is Scope behind the filter subscriberId of a list, whose zero value does not narrow it. It is nil for staff.
// Fails for a customer: subscriber_not_found.
func (c *Call) Among(filter id.Subscriber) ([]id.Subscriber, error) {
	switch {
	case !c.IsCustomer():
		return nil, nil
	case filter.IsZero():
		return c.Scope(), nil
	case !c.Sees(filter):
		return nil, commands.ErrNoSubscriber()
	}
	return []id.Subscriber{filter}, nil
}

// checkOwn refuses a customer at the path of another subscriber, as if that did not exist. Fails: subscriber_not_found.
func (c *Call) checkOwn() error {
	if !c.IsCustomer() || c.route.Own != OwnPath {
		return nil
	}
	subscriber, err := PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err == nil && !c.Sees(subscriber) {
		err = commands.ErrNoSubscriber()
	}
	return err
}

// OwnRow makes a reading of rows one that finds a customer nothing but the own; of gives whose a row is.
func OwnRow[I ~[16]byte, R any](
	c *Call, read func(context.Context, id.Organization, I) (*R, error), of func(R) id.Subscriber,
) func(context.Context, id.Organization, I) (*R, error) {
	return func(ctx context.Context, org id.Organization, i I) (*R, error) {
		row, err := read(ctx, org, i)
		if err != nil || row == nil || !c.Sees(of(*row)) {
			return nil, err
		}
		return row, nil
	}
}

// forCustomers takes out of all rows what is for staff alone, when a customer calls.
func forCustomers[T any](c *Call, rows []T) {
	for i := range rows {
		if row, hides := any(&rows[i]).(StaffSees); hides && c.IsCustomer() {
			row.ForCustomer()
		}
	}
}

// forCustomer is forCustomers for an answer of which only the value is known. Every answer goes this way.
func (c *Call) forCustomer(body any) any {
	if !c.IsCustomer() || body == nil {
		return body
	}
	copied := reflect.New(reflect.TypeOf(body))
	copied.Elem().Set(reflect.ValueOf(body))
	if answer, hides := copied.Interface().(StaffSees); hides {
		answer.ForCustomer()
	}
	return copied.Interface()
}

// checkOwn refuses a route for customers that does not say how it keeps them apart, or whose answer does not say what
// of it is for staff alone.
func (r *Route) checkOwn() error {
	forThem := r.Access == AccessSubscriber || r.Access == AccessSubscriberOrAdmin
	switch {
	case forThem != (r.Own != ""):
		return errors.New("a route for customers says how it keeps them apart, and no other one")
	case !forThem, r.Own == OwnSignIn:
		return nil
	}
	for _, answer := range []any{r.Response, r.Row} {
		if answer == nil {
			continue
		}
		if _, hides := reflect.New(reflect.TypeOf(answer)).Interface().(StaffSees); !hides {
			return errors.New("the answer does not say what of it is for staff alone")
		}
	}
	return nil
}

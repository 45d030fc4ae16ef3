package identityapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// Portal serves /subscribers/:id/portal-access: who signs in to see what is a subscriber's.
type Portal struct {
	Cases identitycases.Portal
	Users identityviews.UsersQuery
	// Known reports whether the organization has such a subscriber.
	Known func(context.Context, id.Organization, id.Subscriber) (bool, error)
}

// Routes lists the endpoints.
func (a Portal) Routes() []httpapi.Route {
	const path = "/subscribers/:id/portal-access"
	return []httpapi.Route{
		{
			Method: "GET", Path: path, Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Who signs in to the portal and sees this subscriber", Response: portalResponse{}, Handle: a.list,
		},
		{
			Method: "POST", Path: path, Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin, PeopleOnly: true,
			Summary: "Let an address sign in to the portal by codes, and see this subscriber",
			Request: portalRequest{}, Response: portalResponse{}, Status: 201, Handle: a.give,
			Codes: []string{"staff_address", "user_disabled", "too_many_subscribers"},
		},
		{
			Method: "DELETE", Path: path + "/:userId", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			PeopleOnly: true, Summary: "End what a sign-in sees of this subscriber, at once", Status: 204,
			Handle: a.end,
		},
	}
}

// portalRequest is the body of POST /subscribers/:id/portal-access (docs/rules/identity.md#portal-users).
type portalRequest struct {
	Email string `json:"email,omitempty"`
	Phone string `json:"phone,omitempty" doc:"each address is one sign-in; the subscriber's own when both are absent"`
}

// portalResponse lists all who see a subscriber.
type portalResponse struct {
	SubscriberID id.Subscriber  `json:"subscriberId"`
	SignIns      []portalSignIn `json:"signIns" doc:"the oldest first"`
}

// portalSignIn is one address with its user.
type portalSignIn struct {
	UserID       id.User    `json:"userId"`
	Email        *string    `json:"email" doc:"null: signs in by phone"`
	Phone        *string    `json:"phone"`
	Status       string     `json:"status" enum:"active,disabled"`
	Since        time.Time  `json:"since"`
	LastSignInAt *time.Time `json:"lastSignInAt" doc:"null: never"`
}

// subscriber reads the subscriber of the path. Fails: subscriber_not_found.
func (a Portal) subscriber(ctx context.Context, c *httpapi.Call) (id.Subscriber, error) {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return subscriber, err
	}
	known, err := a.Known(ctx, c.Org.ID, subscriber)
	if err == nil && !known {
		err = commands.ErrNoSubscriber()
	}
	return subscriber, err
}

// read lists who sees a subscriber.
func (a Portal) read(ctx context.Context, org id.Organization, of id.Subscriber) (portalResponse, error) {
	rows, err := a.Users.Portal(ctx, org, of)
	out := portalResponse{SubscriberID: of, SignIns: make([]portalSignIn, len(rows))}
	for i, r := range rows {
		status := r.Status
		if status == "pending" { // of before records were kept apart; nothing is asked of customers
			status = "active"
		}
		out.SignIns[i] = portalSignIn{
			UserID: r.UserID, Email: null.Of(r.Email), Phone: null.Of(r.Phone), Status: status, Since: r.Since.UTC(),
			LastSignInAt: r.LastSignInAt,
		}
	}
	return out, err
}

// list answers with who sees a subscriber.
func (a Portal) list(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := a.subscriber(ctx, c)
	if err != nil {
		return err
	}
	out, err := a.read(ctx, c.Org.ID, subscriber)
	if err != nil {
		return err
	}
	return c.Send(200, out)
}

// give gives the addresses access, and answers with all who see the subscriber.
func (a Portal) give(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[portalRequest](c)
	if err != nil {
		return err
	}
	asked, err := askedOfUser(c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Give(ctx, asked, subscriber, identitycases.PortalAddresses{
		Email: personal.Of(in.Email), Phone: personal.Of(in.Phone),
	})
	if err != nil {
		return err
	}
	return a.show(ctx, c, subscriber, done)
}

// show answers with who sees a subscriber, once the read model has a write.
func (a Portal) show(ctx context.Context, c *httpapi.Call, of id.Subscriber, done bus.Result) error {
	shown, err := c.WaitVisible(ctx, identityviews.UsersName, done.Position)
	if err != nil {
		return err
	}
	if !shown {
		return c.Send(202, httpapi.Accepted{ID: of.String(), Status: "accepted"})
	}
	out, err := a.read(ctx, c.Org.ID, of)
	if err != nil {
		return err
	}
	return c.Send(201, out)
}

// end takes the subscriber away from a user.
func (a Portal) end(ctx context.Context, c *httpapi.Call) error {
	subscriber, err := httpapi.PathID[id.Subscriber](c, "id", commands.ErrNoSubscriber)
	if err != nil {
		return err
	}
	user, err := httpapi.PathID[id.User](c, "userId", commands.ErrNoUser)
	if err != nil {
		return err
	}
	asked, err := askedOfUser(c)
	if err != nil {
		return err
	}
	done, err := a.Cases.End(ctx, asked, subscriber, user)
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, identityviews.UsersName, done.Position); err != nil {
		return err
	}
	return c.NoContent()
}

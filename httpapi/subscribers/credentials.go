package subscribersapi

import (
	"bytes"
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// addressesRequest are the addresses in the body of POST /subscriptions (docs/rules/subscribers.md#addresses).
type addressesRequest struct {
	StaticIP     string   `json:"staticIp,omitempty" doc:"IPv4; one of no other subscription"`
	StaticIPv6   string   `json:"staticIpv6Prefix,omitempty" doc:"such as 2001:db8:1:100::/56"`
	MACAddresses []string `json:"macAddresses,omitempty" doc:"at most 16, in any notation; any equipment when absent"`
	Routes       []string `json:"routes,omitempty" doc:"at most 16 networks behind the customer, IPv4 or IPv6"`
}

// addresses is the request in the form of the use case.
func (r addressesRequest) addresses() commands.ServiceAddresses {
	return commands.ServiceAddresses{
		StaticIP: personal.Of(r.StaticIP), StaticIPv6Prefix: personal.Of(r.StaticIPv6),
		MACAddresses: personal.OfAll(r.MACAddresses), Routes: personal.OfAll(r.Routes),
	}
}

// addressesPatch is the body of PATCH /subscriptions/:id.
type addressesPatch struct {
	StaticIP     *string   `json:"staticIp,omitempty" doc:"empty or null = from a pool"`
	StaticIPv6   *string   `json:"staticIpv6Prefix,omitempty" doc:"empty or null = from a pool"`
	MACAddresses *[]string `json:"macAddresses,omitempty" doc:"replaces them all; empty or null = any equipment"`
	Routes       *[]string `json:"routes,omitempty" doc:"replaces them all; empty or null = none"`
}

// change is the patch in the form of the use case. Addresses that are given as null are removed.
func (p addressesPatch) change(subscription id.Subscription, nulls map[string]bool) subscriberscases.AddressChange {
	out := subscriberscases.AddressChange{SubscriptionID: subscription}
	if given := httpapi.Emptied(p.StaticIP, nulls["staticIp"]); given != nil {
		out.StaticIP = new(personal.Of(*given))
	}
	if given := httpapi.Emptied(p.StaticIPv6, nulls["staticIpv6Prefix"]); given != nil {
		out.StaticIPv6Prefix = new(personal.Of(*given))
	}
	if given := httpapi.Emptied(p.MACAddresses, nulls["macAddresses"]); given != nil {
		out.MACAddresses = new(personal.OfAll(*given))
	}
	if given := httpapi.Emptied(p.Routes, nulls["routes"]); given != nil {
		out.Routes = new(personal.OfAll(*given))
	}
	return out
}

// credentialsRequest is the body of POST /subscriptions/:id/credentials (docs/rules/subscribers.md#credentials).
type credentialsRequest struct {
	Username *string       `json:"username,omitempty" doc:"stays when absent"`
	Password *secrets.Text `json:"password,omitempty" doc:"generated when username is absent too"`
}

// check refuses what was given and is empty: somebody who cleared a field of a form does not want another password.
func (r credentialsRequest) check() error {
	var f failure.Faults
	f.Check(r.Username == nil || *r.Username != "", "username", "must not be empty")
	f.Check(r.Password == nil || !r.Password.IsZero(), "password", "must not be empty")
	return f.Err()
}

// credentialsResponse is a login. The password is null when there is none, and after a change that did not generate it.
type credentialsResponse struct {
	Username *string `json:"username"`
	Password *string `json:"password"`
}

// change changes the addresses that are given.
func (a Subscriptions) change(ctx context.Context, c *httpapi.Call) error {
	subscription, err := httpapi.PathID[id.Subscription](c, "id", commands.ErrNoSubscription)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[addressesPatch](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.ChangeAddresses(ctx, c.Asked(), in.change(subscription, c.Nulls()))
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), subscription, done)
}

// showCredentials answers with the login, which the audit log then tells.
func (a Subscriptions) showCredentials(ctx context.Context, c *httpapi.Call) error {
	subscription, err := httpapi.PathID[id.Subscription](c, "id", commands.ErrNoSubscription)
	if err != nil {
		return err
	}
	shown, err := a.Cases.ShowCredentials(ctx, c.Asked(), subscription)
	if err != nil {
		return err
	}
	return sendCredentials(c, shown)
}

// setCredentials changes the login, and answers with a generated password.
func (a Subscriptions) setCredentials(ctx context.Context, c *httpapi.Call) error {
	subscription, err := httpapi.PathID[id.Subscription](c, "id", commands.ErrNoSubscription)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(c.Body())) == 0 { // all fields may be absent, and their absence ends the customer's session
		return failure.NewMalformed("malformed_body", "The body must be one valid JSON object.")
	}
	in, err := httpapi.Decode[credentialsRequest](c)
	if err == nil {
		err = in.check()
	}
	if err != nil {
		return err
	}
	set, err := a.Cases.SetCredentials(ctx, c.Asked(), subscriberscases.SetCredentialsInput{
		SubscriptionID: subscription, Username: personal.Of(null.Zero(in.Username)),
		Password: null.Zero(in.Password),
	})
	if err != nil {
		return err
	}
	return sendCredentials(c, set)
}

// sendCredentials answers with a login, which no cache may keep.
func sendCredentials(c *httpapi.Call, login subscriberscases.Credentials) error {
	c.Writer.Header().Set("Cache-Control", "no-store")
	c.SetRevision(login.Revision)
	return c.Send(200, credentialsResponse{
		Username: null.Of(login.Username.Reveal()), Password: null.Of(login.Password.Reveal()),
	})
}

package identityapi

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// Codes serves signing in by one-time codes: /auth/otp, /auth/password/reset and
// /auth/contacts.
type Codes struct {
	Auth          Auth
	Codes         identitycases.Codes
	Organizations identityviews.OrganizationsQuery
}

// Routes lists the endpoints. Those of somebody who is not signed in count as sign-ins.
func (a Codes) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/auth/otp/send", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic,
			LoginLimit: true, Summary: "Ask for a one-time code", Request: codeRequest{}, Response: doneResponse{},
			Handle: a.send,
		},
		{
			Method: "POST", Path: "/auth/otp/verify", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic,
			LoginLimit: true, Summary: "Sign in with a one-time code; at the root host an organization is chosen first",
			Request: verifyRequest{}, Response: verifyResponse{}, Handle: a.verify,
		},
		{
			Method: "POST", Path: "/auth/otp/complete", Hosts: httpapi.OnOrganization, Access: httpapi.AccessPublic,
			LoginLimit: true, Summary: "Sign in to the organization that was chosen", Request: completeRequest{},
			Response: signInResponse{}, Handle: a.complete,
		},
		{
			Method: "POST", Path: "/auth/contacts", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber,
			Own:     httpapi.OwnSignIn,
			Summary: "Ask for another own address: a code goes to the old and one to the new one",
			Request: contactRequest{}, Response: doneResponse{}, Handle: a.askContact,
		},
		{
			Method: "POST", Path: "/auth/contacts/confirm", Hosts: httpapi.OnBoth, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnSignIn, Summary: "Change the own address with both codes, and end every other session",
			Request: contactProof{}, Response: doneResponse{}, Handle: a.confirmContact,
			Codes: []string{"wrong_codes", "email_taken", "phone_taken"},
		},
		{
			Method: "POST", Path: "/auth/password/reset", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic,
			LoginLimit: true, Summary: "Choose a new password with a one-time code", Request: resetRequest{},
			Response: doneResponse{}, Handle: a.reset,
		},
	}
}

// codeRequest is the body of POST /auth/otp/send (docs/rules/identity.md#codes).
type codeRequest struct {
	Identifier string `json:"identifier" doc:"e-mail address, or phone number with its country"`
}

// send has a code sent. Its answer is the same for everybody.
func (a Codes) send(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[codeRequest](c)
	if err != nil {
		return err
	}
	if err := a.Codes.Ask(ctx, c.Org.ID, personal.Of(in.Identifier)); err != nil {
		return err
	}
	return c.Send(200, doneResponse{"If somebody signs in with this address, a code is on its way to it."})
}

// verifyRequest is the body of POST /auth/otp/verify (docs/rules/identity.md#codes).
type verifyRequest struct {
	Identifier string       `json:"identifier"`
	Code       secrets.Text `json:"code"`
}

// membershipResponse is an organization that can be chosen (docs/rules/identity.md#choosing-an-organization).
type membershipResponse struct {
	ID   id.Organization `json:"id"`
	Name string          `json:"name"`
	Slug string          `json:"slug"`
	Role events.Role     `json:"role"`
}

// verifiedUser is the person of a sign-in. Before an organization is chosen it has the name alone: addresses and role
// are of one organization's record (docs/rules/identity.md#choosing-an-organization).
type verifiedUser struct {
	ID        id.User     `json:"id"`
	Email     *string     `json:"email,omitempty" doc:"absent before an organization is chosen"`
	Phone     *string     `json:"phone,omitempty" doc:"absent before an organization is chosen"`
	FirstName string      `json:"firstName"`
	LastName  string      `json:"lastName"`
	Role      events.Role `json:"role,omitempty" doc:"absent before an organization is chosen"`
}

// verifyResponse is the answer to a sign-in, or the choice of an organization that comes before it: then there are no
// tokens but verifiedToken (docs/rules/identity.md#choosing-an-organization).
type verifyResponse struct {
	User                 *verifiedUser        `json:"user,omitempty"`
	Org                  *orgResponse         `json:"org"` // null on the root host
	MustChangePassword   bool                 `json:"mustChangePassword"`
	AccessToken          string               `json:"accessToken,omitempty"`
	RefreshToken         string               `json:"refreshToken,omitempty"`
	RequiresOrgSelection bool                 `json:"requiresOrgSelection,omitempty" doc:"choose an organization"`
	RequiresSecondFactor bool                 `json:"requiresSecondFactor,omitempty" doc:"show a code first"`
	VerifiedToken        string               `json:"verifiedToken,omitempty" doc:"of the choice or the second factor"`
	Organizations        []membershipResponse `json:"organizations,omitempty" doc:"of which one is chosen"`
}

// verify opens a session, or lets the person choose an organization first.
func (a Codes) verify(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[verifyRequest](c)
	if err != nil {
		return err
	}
	chosen, err := a.Codes.Verify(ctx, c.Asked(), identitycases.CodeProof{
		Identifier: personal.Of(in.Identifier), Code: in.Code, Browser: browserOf(c.Request.UserAgent()),
	})
	switch {
	case err != nil:
		return err
	case chosen.Token.IsZero():
		return a.Auth.signedIn(c, chosen.SignedIn)
	}
	open, err := a.memberships(ctx, chosen.Entries)
	if err != nil {
		return err
	}
	first := chosen.Entries[0].User
	return c.Send(200, verifyResponse{
		User:                 &verifiedUser{ID: first.ID, FirstName: first.FirstName, LastName: first.LastName},
		RequiresOrgSelection: true,
		VerifiedToken:        chosen.Token.Reveal(), Organizations: open,
	})
}

// memberships names the organizations that can be chosen. Suspended ones cannot be entered.
func (a Codes) memberships(ctx context.Context, entries []identitycases.Entry) ([]membershipResponse, error) {
	roles := map[id.Organization]events.Role{}
	for _, e := range entries {
		if _, known := roles[e.OrgID]; !known {
			roles[e.OrgID] = e.Role
		}
	}
	rows, err := a.Organizations.Some(ctx, slices.Collect(maps.Keys(roles)))
	open := []membershipResponse{}
	for _, org := range rows {
		if !org.Suspended {
			open = append(open, membershipResponse{ID: org.ID, Name: org.Name, Slug: org.Slug, Role: roles[org.ID]})
		}
	}
	slices.SortFunc(open, func(a, b membershipResponse) int { return cmp.Compare(a.Name, b.Name) })
	return open, err
}

// completeRequest is the body of POST /auth/otp/complete (docs/rules/identity.md#choosing-an-organization).
type completeRequest struct {
	VerifiedToken secrets.Text    `json:"verifiedToken"`
	OrgID         id.Organization `json:"orgId"`
}

// complete opens a session at the organization that was chosen, which is that of the host.
func (a Codes) complete(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[completeRequest](c)
	if err != nil {
		return err
	}
	signed, err := a.Codes.Complete(ctx, c.Asked(), in.VerifiedToken, in.OrgID, browserOf(c.Request.UserAgent()))
	if err != nil {
		return err
	}
	return a.Auth.signedIn(c, signed)
}

// resetRequest is the body of POST /auth/password/reset (docs/rules/identity.md#codes).
type resetRequest struct {
	Identifier  string       `json:"identifier" doc:"e-mail address"`
	Code        secrets.Text `json:"code"`
	NewPassword secrets.Text `json:"newPassword"`
}

// reset gives a person a new password, and ends all sessions.
func (a Codes) reset(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[resetRequest](c)
	if err != nil {
		return err
	}
	proof := identitycases.CodeProof{Identifier: personal.Of(in.Identifier), Code: in.Code}
	if err := a.Codes.Reset(ctx, c.Asked(), proof, in.NewPassword); err != nil {
		return err
	}
	return c.Send(200, doneResponse{"Your password was changed. Sign in with it: every session has ended."})
}

// Package cpeapi serves the equipment in customers' homes.
package cpeapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// Informs tells when CPEs have called. Implementations are safe for concurrent use.
type Informs interface {
	// Latest leaves out a CPE that has never called.
	Latest(ctx context.Context, cpes []id.CPE) (map[id.CPE]time.Time, error)
	// Since lists the CPEs of an organization that have called at an instant or later; never nil.
	Since(ctx context.Context, org id.Organization, at time.Time) ([]id.CPE, error)
	// Health tells what CPEs said of themselves last, and leaves out one that has said nothing.
	Health(ctx context.Context, cpes []id.CPE) (map[id.CPE]cpeviews.Health, error)
	// Pending lists CPEs that wait to be claimed, whose serial number begins with a text in capitals.
	Pending(ctx context.Context, serial string, after cpeviews.CPEKey, max int) ([]cpeviews.PendingRow, error)
	// Refusals tells when CPEs were refused last for want of their password, and leaves out one that never was.
	Refusals(ctx context.Context, cpes []id.CPE) (map[id.CPE]time.Time, error)
}

// API serves /cpe and /me/devices. All fields are required.
type API struct {
	Cases   cpecases.CPEs
	Rows    cpeviews.CPEsQuery
	Informs Informs
	// Wifi tells the latest changes of Wi-Fi that a person has asked for, by CPE.
	Wifi func(context.Context, id.Organization, id.User, []id.CPE) (map[id.CPE]cpeviews.OperationRow, error)
	// Onu tells the ONU of a CPE that was asked for last; nil when none was.
	Onu   func(context.Context, id.Organization, id.CPE) (*cpeviews.OnuRow, error)
	Clock clock.Clock
	// Terminals is whether the program knows optical line terminals.
	Terminals bool
}

// Limits of being online. Source: docs/rules/cpe.md#online.
const (
	offlineAfter = 10 * time.Minute
	staleAfter   = offlineAfter + time.Hour // of the last call: an hour offline
)

// refusedLately is how long it is told that a CPE was refused. Source: docs/rules/cpe.md#sign-in.
const refusedLately = 24 * time.Hour

// Routes lists the endpoints.
func (a API) Routes() []httpapi.Route {
	on, read, write := httpapi.OnOrganization, httpapi.AccessSupport, httpapi.AccessAdmin
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/cpe/pending", Hosts: httpapi.OnBoth, Access: write, Row: pendingCpe{},
			Summary: "List CPEs that wait to be claimed, the latest first", Handle: a.pending,
			Query: []httpapi.Param{{Name: "serial", Type: "string", Doc: "the beginning of a serial number"}},
		},
		{
			Method: http.MethodDelete, Path: "/cpe/pending/:id", Hosts: httpapi.OnRoot,
			Access: httpapi.AccessSuperAdmin, Status: http.StatusNoContent, Handle: a.removePending,
			Summary: "Take a CPE off the list of those that wait, until it says again who it is",
		},
		{
			Method: http.MethodPost, Path: "/cpe/pending/:id/claim", Hosts: on, Access: write,
			Request: cpeClaimRequest{}, Response: cpeClaimed{}, Codes: append(onuCodes(), "already_claimed"),
			Summary: "Claim a CPE for the organization, and set up its ONU when it is named", Handle: a.claim,
		},
		{
			Method: http.MethodPost, Path: "/cpe/pending/:id/assign", Hosts: httpapi.OnRoot,
			Access: httpapi.AccessSuperAdmin, Request: cpeAssignRequest{}, Response: cpeResponse{},
			Summary: "Give a CPE to an organization", Handle: a.assign, Codes: []string{"already_claimed"},
		},
		{
			Method: http.MethodGet, Path: "/cpe/devices", Hosts: on, Access: read, Row: cpeResponse{},
			Summary: "List CPEs, the latest claims first", Handle: a.list,
			Query: []httpapi.Param{
				{Name: "q", Type: "string", Doc: "the beginning of a serial number"},
				{Name: "subscriberId", Type: "uuid"},
				{Name: "online", Type: "boolean"},
				{Name: "stale", Type: "boolean"},
				{Name: "model", Type: "string"},
				{Name: "firmwareVersion", Type: "string"},
			},
		},
		{
			Method: http.MethodGet, Path: "/cpe/devices/:id", Hosts: on, Access: read, Response: cpeDevice{},
			Summary: "Read a CPE", Handle: a.get,
		},
		{
			Method: http.MethodPost, Path: "/cpe/devices/:id/assign-subscriber", Hosts: on, Access: write,
			Request: cpeSubscriberRequest{}, Response: cpeResponse{}, Summary: "Give a CPE to a customer",
			Handle: a.assignSubscriber,
		},
		{
			Method: http.MethodPost, Path: "/cpe/devices/:id/release", Hosts: on, Access: write,
			Response: pendingCpe{}, Summary: "Give a CPE up, so that it can be claimed again", Handle: a.release,
		},
		{
			Method: http.MethodPost, Path: "/cpe/devices/:id/sign-in-anew", Hosts: on, Access: write,
			Request: httpapi.ReasonRequest{}, Response: cpeResponse{}, Handle: a.signInAnew,
			Summary: "Let a CPE in without its password, until it has shown a new one",
		},
		{
			Method: http.MethodGet, Path: "/me/devices", Hosts: on, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, PeopleOnly: true, Row: ownCpe{}, Summary: "The CPEs that the sign-in sees",
			Handle: a.own,
		},
	}
}

// pending answers with a page of CPEs without an organization: what any administrator may see of them.
func (a API) pending(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	serial := strings.ToUpper(f.Text("serial"))
	if err := f.Err(); err != nil {
		return err
	}
	var known map[id.CPE]cpeviews.CPERow // set when the page is read
	show := func(r cpeviews.PendingRow) pendingCpe { return a.showWaiting(r, known[r.ID]) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after cpeviews.CPEKey, max int,
	) ([]cpeviews.PendingRow, error) {
		list, err := a.Informs.Pending(ctx, serial, after, max)
		if err != nil {
			return nil, err
		}
		cpes := make([]id.CPE, 0, len(list))
		for _, r := range list {
			cpes = append(cpes, r.ID)
		}
		rows, err := a.Rows.Some(ctx, cpes)
		known = make(map[id.CPE]cpeviews.CPERow, len(rows))
		for _, r := range rows {
			known[r.ID] = r
		}
		return list, err
	})
}

// removePending takes a CPE off the list.
func (a API) removePending(ctx context.Context, c *httpapi.Call) error {
	cpe, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return err
	}
	if err := a.Cases.RemovePending(ctx, cpe); err != nil {
		return err
	}
	return c.NoContent()
}

// cpeClaimRequest is the body of a claim; it may be empty.
type cpeClaimRequest struct {
	SubscriberID   id.Subscriber   `json:"subscriberId,omitzero" doc:"the customer, when known"`
	SubscriptionID id.Subscription `json:"subscriptionId,omitzero" doc:"not needed when the customer has one service"`
	Label          string          `json:"label,omitempty" doc:"what staff call it, at most 60 characters"`
	Location       string          `json:"location,omitempty" doc:"where it stands, at most 120 characters"`
	// Onu is the optical end of the CPE.
	Onu *cpeOnuRequest `json:"onu,omitempty" doc:"set up at its terminal; needs one that the platform knows"`
}

// cpeClaimed answers a claim.
type cpeClaimed struct {
	cpeResponse
	OperationID *id.CPEOperation `json:"operationId" doc:"of the set-up of the ONU; null: none was asked for"`
}

// claim takes a CPE for the organization of the host.
func (a API) claim(ctx context.Context, c *httpapi.Call) error {
	cpe, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[cpeClaimRequest](c)
	if err != nil {
		return err
	}
	claim := cpecases.Claim{
		CpeID: cpe, SubscriberID: in.SubscriberID, SubscriptionID: in.SubscriptionID, Label: in.Label,
		Location: in.Location,
	}
	var operation id.CPEOperation
	var done bus.Result
	if in.Onu == nil {
		done, err = a.Cases.Claim(ctx, c.Asked(), claim)
	} else {
		operation, done, err = a.Cases.ClaimWithOnu(ctx, c.Asked(), claim, in.Onu.place())
	}
	if err != nil {
		return err
	}
	one := a.one(a.Rows.Get)
	return httpapi.SendOne(ctx, c, http.StatusOK, httpapi.One[id.CPE, cpeviews.CPERow, cpeClaimed]{
		Model: one.Model, Missing: one.Missing, Revision: one.Revision, Read: one.Read,
		Show: func(r cpeviews.CPERow) cpeClaimed { return cpeClaimed{one.Show(r), null.Of(operation)} },
	}, cpe, done)
}

// cpeAssignRequest is the body of an assignment by the platform.
type cpeAssignRequest struct {
	OrgID  id.Organization `json:"orgId"`
	UserID id.Any          `json:"userId,omitzero" doc:"a subscriber of the organization, or a sign-in that sees one"`
}

// assign gives a CPE to an organization.
func (a API) assign(ctx context.Context, c *httpapi.Call) error {
	cpe, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[cpeAssignRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Assign(ctx, c.Asked(), cpe, in.OrgID, in.UserID)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusOK, a.one(a.any), cpe, done)
}

// any reads a CPE, whoever has it: on the root host.
func (a API) any(ctx context.Context, _ id.Organization, cpe id.CPE) (*cpeviews.CPERow, error) {
	return a.Rows.Any(ctx, cpe)
}

// one describes how a CPE is read and shown.
func (a API) one(
	read func(context.Context, id.Organization, id.CPE) (*cpeviews.CPERow, error),
) httpapi.One[id.CPE, cpeviews.CPERow, cpeResponse] {
	var said heard // set when the row is read
	return httpapi.One[id.CPE, cpeviews.CPERow, cpeResponse]{
		Model: cpeviews.CPEsName, Missing: commands.ErrNoCpe,
		Revision: func(r cpeviews.CPERow) int64 { return r.Revision },
		Show:     func(r cpeviews.CPERow) cpeResponse { return showCpe(r, a.condition(said, r)) },
		Read: func(ctx context.Context, org id.Organization, cpe id.CPE) (*cpeviews.CPERow, error) {
			row, err := read(ctx, org, cpe)
			if err != nil || row == nil {
				return nil, err
			}
			said, err = a.heard(ctx, cpe)
			return row, err
		},
	}
}

// get answers with a CPE of the organization.
func (a API) get(ctx context.Context, c *httpapi.Call) error {
	one := a.one(a.Rows.Get)
	var onu *cpeviews.OnuRow // set when the row is read
	return httpapi.ReadOne(ctx, c, httpapi.One[id.CPE, cpeviews.CPERow, cpeDevice]{
		Model: one.Model, Missing: one.Missing, Revision: one.Revision,
		Read: func(ctx context.Context, org id.Organization, cpe id.CPE) (*cpeviews.CPERow, error) {
			row, err := one.Read(ctx, org, cpe)
			if err != nil || row == nil {
				return nil, err
			}
			onu, err = a.Onu(ctx, org, cpe)
			return row, err
		},
		Show: func(r cpeviews.CPERow) cpeDevice { return cpeDevice{one.Show(r), a.Terminals, showOnu(onu)} },
	})
}

// list answers with a page of CPEs of the organization.
func (a API) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := cpeviews.CPEFilter{
		Serial: strings.ToUpper(f.Text("q")), SubscriberID: httpapi.FilterID[id.Subscriber](f, "subscriberId"),
		Model: f.Text("model"), Firmware: f.Text("firmwareVersion"),
	}
	online, stale := f.Bool("online"), f.Bool("stale")
	if err := f.Err(); err != nil {
		return err
	}
	if err := a.inCondition(ctx, c.Org.ID, &filter, online, stale); err != nil {
		return err
	}
	var said heard // set when the page is read
	show := func(r cpeviews.CPERow) cpeResponse { return showCpe(r, a.condition(said, r)) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after cpeviews.CPEKey, max int,
	) (rows []cpeviews.CPERow, err error) {
		rows, said, err = a.read(ctx, c.Org.ID, filter, after, max)
		return rows, err
	})
}

// read reads rows with what their CPEs said last.
func (a API) read(
	ctx context.Context, org id.Organization, f cpeviews.CPEFilter, after cpeviews.CPEKey, max int,
) ([]cpeviews.CPERow, heard, error) {
	rows, err := a.Rows.List(ctx, org, f, after, max)
	if err != nil {
		return nil, heard{}, err
	}
	of := make([]id.CPE, len(rows))
	for i, r := range rows {
		of[i] = r.ID
	}
	said, err := a.heard(ctx, of...)
	return rows, said, err
}

// heard has the last words of CPEs, kept apart from the rows: when they called, and how they are.
type heard struct {
	calls    map[id.CPE]time.Time
	health   map[id.CPE]cpeviews.Health
	refusals map[id.CPE]time.Time
}

// heard reads what some CPEs said last.
func (a API) heard(ctx context.Context, cpes ...id.CPE) (heard, error) {
	calls, err := a.Informs.Latest(ctx, cpes)
	if err != nil {
		return heard{}, err
	}
	health, err := a.Informs.Health(ctx, cpes)
	if err != nil || a.Cases.SignIns == nil {
		return heard{calls: calls, health: health}, err
	}
	refusals, err := a.Informs.Refusals(ctx, cpes)
	return heard{calls, health, refusals}, err
}

// inCondition narrows a filter to CPEs that are online or not, and stale or not; nil does not narrow it. The last calls
// are kept apart from the rows, so they are named.
func (a API) inCondition(
	ctx context.Context, org id.Organization, f *cpeviews.CPEFilter, online, stale *bool,
) error {
	now := a.Clock.Now()
	for _, by := range []struct {
		wanted *bool // among those that have called
		since  time.Time
	}{{online, now.Add(-offlineAfter)}, {not(stale), now.Add(-staleAfter)}} {
		if by.wanted == nil {
			continue
		}
		called, err := a.Informs.Since(ctx, org, by.since)
		switch {
		case err != nil:
			return err
		case !*by.wanted:
			f.Except = append(f.Except, called...)
		case f.Among == nil: // who is online has called in the last hour, too
			f.Among = called
		}
	}
	return nil
}

// not turns a choice round; nil stays nil.
func not(choice *bool) *bool {
	if choice == nil {
		return nil
	}
	other := !*choice
	return &other
}

// cpeSubscriberRequest is the body of an assignment within the organization.
type cpeSubscriberRequest struct {
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	SubscriptionID id.Subscription `json:"subscriptionId,omitzero" doc:"not needed when the customer has one service"`
	PushNow        bool            `json:"pushNow,omitempty" doc:"ask the device to fetch its settings at once"`
}

// assignSubscriber gives a CPE to a customer.
func (a API) assignSubscriber(ctx context.Context, c *httpapi.Call) error {
	cpe, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[cpeSubscriberRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.AssignSubscriber(ctx, c.Asked(), cpecases.Assignment{
		CpeID: cpe, SubscriberID: in.SubscriberID, SubscriptionID: in.SubscriptionID, PushNow: in.PushNow,
	})
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusOK, a.one(a.Rows.Get), cpe, done)
}

// release answers with the CPE as everybody sees it from now on.
func (a API) release(ctx context.Context, c *httpapi.Call) error {
	cpe, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return err
	}
	done, err := a.Cases.Release(ctx, c.Asked(), cpe)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusOK, httpapi.One[id.CPE, cpeviews.CPERow, pendingCpe]{
		Model: cpeviews.CPEsName, Missing: commands.ErrNoCpe, Read: a.any, Show: a.showPending,
	}, cpe, done)
}

// signInAnew lets a CPE in that has lost its password.
func (a API) signInAnew(ctx context.Context, c *httpapi.Call) error {
	cpe, err := httpapi.PathID[id.CPE](c, "id", commands.ErrNoCpe)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[httpapi.ReasonRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.SignInAnew(ctx, c.Asked(), cpe, in.Reason)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, http.StatusOK, a.one(a.Rows.Get), cpe, done)
}

// own answers with the CPEs that the caller sees as a customer: none for staff.
func (a API) own(ctx context.Context, c *httpapi.Call) error {
	filter := cpeviews.CPEFilter{Of: append([]id.Subscriber{}, c.Caller.Own...)}
	var said heard // set when the page is read, and wifi too
	var wifi map[id.CPE]cpeviews.OperationRow
	show := func(r cpeviews.CPERow) ownCpe { return showOwn(r, a.condition(said, r), wifi) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after cpeviews.CPEKey, max int,
	) (rows []cpeviews.CPERow, err error) {
		rows, said, err = a.read(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		of := make([]id.CPE, len(rows))
		for i, r := range rows {
			of[i] = r.ID
		}
		wifi, err = a.Wifi(ctx, c.Org.ID, c.Caller.UserID, of)
		return rows, err
	})
}

// condition says whether a CPE is online, and how it is.
type condition struct {
	online bool
	stale  bool
	last   *time.Time // nil = it has never called
	health *cpeviews.Health
	signIn *cpeSignIn // nil = CPEs do not sign in
}

// condition judges what a CPE said last. What it said before its claim belongs to who had it then.
func (a API) condition(said heard, r cpeviews.CPERow) condition {
	last, now := said.calls[r.ID], a.Clock.Now()
	in := condition{
		online: !last.IsZero() && now.Sub(last) <= offlineAfter,
		stale:  last.IsZero() || now.Sub(last) > staleAfter, last: null.Time(last),
	}
	if h, is := said.health[r.ID]; is && r.ClaimedAt != nil && !h.At.Before(*r.ClaimedAt) {
		in.health = &h
	}
	if a.Cases.SignIns != nil && r.ClaimedAt != nil {
		in.signIn = &cpeSignIn{Required: r.SignInProven}
		if at, is := said.refusals[r.ID]; is && !at.Before(*r.ClaimedAt) && now.Sub(at) < refusedLately {
			in.signIn.RefusedAt = &at
		}
	}
	return in
}

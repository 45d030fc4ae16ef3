package subscribersapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// Proposals serves /import-proposals.
type Proposals struct {
	Cases subscriberscases.Proposals
}

// Routes lists the endpoints of proposals.
func (a Proposals) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/import-proposals", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Read the profiles and users of a router, and propose plans and customers; nothing is made",
			Request: proposalRequest{}, Response: proposalResponse{}, Status: 201, Handle: a.propose,
			Codes: []string{"device_not_found", "device_unreachable", "router_refused", "rate_limited"},
		},
		{
			Method: "GET", Path: "/import-proposals/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "A proposal, with the plans that were made meanwhile", Response: proposalResponse{},
			Handle: a.get, Codes: []string{"proposal_not_found"},
		},
		{
			Method: "GET", Path: "/import-proposals/:id/file", Hosts: httpapi.OnOrganization,
			Access:   httpapi.AccessAdmin,
			Summary:  "The customers of a proposal as a table for POST /imports/subscribers, without passwords",
			Produces: "text/csv; charset=utf-8", Handle: a.file, Codes: []string{"proposal_not_found"},
		},
	}
}

// proposalRequest names the router.
type proposalRequest struct {
	DeviceID id.Device `json:"deviceId"`
}

// proposedPlan is a profile of the router as a plan without a price.
type proposedPlan struct {
	Code      string     `json:"code"`
	Name      string     `json:"name"`
	Kind      string     `json:"kind" enum:"pppoe,hotspot"`
	Profile   string     `json:"profile" doc:"its name on the router"`
	RateLimit *string    `json:"rateLimit" doc:"as the router has it; null: it has none"`
	Rates     *planRates `json:"rates" doc:"null: to be given, as the router limits nothing that a plan can have"`
	More      bool       `json:"more" doc:"rateLimit has something that is not in rates, such as a priority"`
	Customers int        `json:"customers"`
	PlanID    *id.Plan   `json:"planId" doc:"of the plan with the code; null: it has to be made"`
}

// proposalCode is one of subscriberscases.ProposalNotes.
type proposalCode string

// Texts implements httpapi.Enumerated.
func (proposalCode) Texts() []string { return subscriberscases.ProposalNotes }

// proposalNote is about one user of the router.
type proposalNote struct {
	Name    string       `json:"name"`
	Kind    string       `json:"kind" enum:"pppoe,hotspot"`
	Code    proposalCode `json:"code" doc:"why it is left out, or what of it is not taken; more can be added"`
	LeftOut bool         `json:"leftOut"`
	Value   *string      `json:"value" doc:"on the router, that is not taken; null: not shown"`
}

// proposalResponse shows what can be made of a router's own profiles and users
// (docs/rules/subscribers-import.md#from-a-router).
type proposalResponse struct {
	ID       id.Proposal    `json:"id"`
	DeviceID id.Device      `json:"deviceId"`
	ReadAt   time.Time      `json:"readAt"`
	EndsAt   time.Time      `json:"endsAt" doc:"from when on it is no longer kept"`
	Plans    []proposedPlan `json:"plans"`

	Customers       int            `json:"customers"`
	WithoutPhone    int            `json:"withoutPhone" doc:"of the customers: a phone has to be added"`
	WithoutPassword int            `json:"withoutPassword" doc:"of the customers: a password will be made"`
	PasswordsHidden bool           `json:"passwordsHidden" doc:"the router shows its API user no passwords"`
	LeftOut         int            `json:"leftOut" doc:"users of the router who do not become customers"`
	Notes           []proposalNote `json:"notes" doc:"the first 1,000"`
	NoteCount       int            `json:"noteCount" doc:"of all"`
}

// propose reads the router and answers with what was found.
func (a Proposals) propose(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[proposalRequest](c)
	if err != nil {
		return err
	}
	p, err := a.Cases.Make(ctx, c.Asked(), in.DeviceID)
	if err != nil {
		return err
	}
	return c.Send(201, showProposal(p))
}

// get answers with a proposal.
func (a Proposals) get(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.Proposal](c, "id", commands.ErrNoProposal)
	if err != nil {
		return err
	}
	p, err := a.Cases.Get(ctx, c.Org.ID, of)
	if err != nil {
		return err
	}
	return c.Send(200, showProposal(p))
}

// file sends the table of the customers.
func (a Proposals) file(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.Proposal](c, "id", commands.ErrNoProposal)
	if err != nil {
		return err
	}
	rows, err := a.Cases.Table(ctx, c.Org.ID, of)
	if err != nil {
		return err
	}
	return c.SendCSV("customers.csv", subscriberscases.ProposalColumns, rows)
}

// showProposal writes a proposal; no list is null.
func showProposal(p subscriberscases.Proposal) proposalResponse {
	out := proposalResponse{
		ID: p.ID, DeviceID: p.DeviceID, ReadAt: p.ReadAt, EndsAt: p.EndsAt, Plans: make([]proposedPlan, len(p.Plans)),
		Customers: p.Customers, WithoutPhone: p.WithoutPhone, WithoutPassword: p.WithoutPassword,
		PasswordsHidden: p.Hidden, LeftOut: p.LeftOut, Notes: make([]proposalNote, len(p.Notes)),
		NoteCount: p.NoteCount,
	}
	for i, plan := range p.Plans {
		out.Plans[i] = proposedPlan{
			Code: plan.Code, Name: plan.Name, Kind: plan.Kind, Profile: plan.Profile, RateLimit: null.Of(plan.Limit),
			More: plan.More, Customers: plan.Customers, PlanID: null.Of(plan.PlanID),
		}
		if plan.Speed != (events.Speed{}) {
			out.Plans[i].Rates = new(showRates(plan.Speed.Down, plan.Speed.Up, plan.Burst))
		}
	}
	for i, n := range p.Notes {
		out.Notes[i] = proposalNote{Name: n.Name, Kind: "pppoe", Code: proposalCode(n.Code), LeftOut: n.LeftOut,
			Value: null.Of(n.Value)}
		if n.Hotspot {
			out.Notes[i].Kind = "hotspot"
		}
	}
	return out
}

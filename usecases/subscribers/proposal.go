package subscriberscases

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Proposals makes plans and customers of what a router knows by itself. It only proposes: plans and customers are made
// by the usual ways. Every field is required. Safe for concurrent use.
type Proposals struct {
	Bus     *bus.Bus
	Files   *vault.Files
	Limiter vault.Limiter
	// Read asks the router now. Fails: device_not_found, device_unreachable, router_refused.
	Read func(ctx context.Context, device id.Device) (routerplan.Customers, error)
	// Plans lists the plans of an organization, archived ones too: their codes are taken for ever.
	Plans func(ctx context.Context, org id.Organization) ([]subscribersviews.PlanRow, error)
	// Taken is that of Imports.
	Taken func(ctx context.Context, org id.Organization, v subscribersviews.TakenValues,
	) (map[string]subscribersviews.TakenRow, error)
	Clock clock.Clock
}

// Limits of proposals.
const (
	proposalsPerHour = 30 // of one router: each time is an event
	proposalPartRows = 5_000
	maxProposalNotes = 1_000 // that are told; further ones are counted
)

// Proposal has the plans that a router's own profiles can become, and counts its users. It has no password: those are
// sealed in the vault until EndsAt. Its JSON is sealed beside them.
type Proposal struct {
	ID        id.Proposal    `json:"id"`
	DeviceID  id.Device      `json:"deviceId"`
	ReadAt    time.Time      `json:"readAt"`
	EndsAt    time.Time      `json:"endsAt"`
	Plans     []ProposedPlan `json:"plans"`
	Customers int            `json:"customers"`
	// Of the customers, those whose phone has to be added before they can be imported.
	WithoutPhone int `json:"withoutPhone"`
	// Of the customers, those for whom a password will be made.
	WithoutPassword int            `json:"withoutPassword"`
	Hidden          bool           `json:"hidden"` // the router shows no passwords to its API user
	LeftOut         int            `json:"leftOut"`
	Notes           []ProposalNote `json:"notes"`
	NoteCount       int            `json:"noteCount"`
	Parts           int            `json:"parts"` // of the sealed rows, from 1
}

// ProposalNote says about a user of the router why it is no customer, or what of it is not taken.
type ProposalNote struct {
	Name    string `json:"name"`
	Hotspot bool   `json:"hotspot"`
	Code    string `json:"code"`
	LeftOut bool   `json:"leftOut"`
	Value   string `json:"value,omitempty"` // that is not taken; "" = not shown
}

// Make reads a router and keeps the proposal. Who reads is recorded before the router is asked, since the answer has
// the passwords of customers. Fails: device_not_found, device_unreachable, router_refused, rate_limited.
func (u Proposals) Make(ctx context.Context, asked usecases.Asked, device id.Device) (Proposal, error) {
	ok, wait, err := u.Limiter.Allow(ctx, "device_customers:"+device.String(), proposalsPerHour, time.Hour)
	switch {
	case err != nil:
		return Proposal{}, err
	case !ok:
		return Proposal{}, failure.NewLimited("rate_limited", "Too many requests. Please wait.", max(wait, time.Second))
	}
	now := u.Clock.Now().UTC()
	p := Proposal{
		ID: usecases.NewID[id.Proposal](asked, "proposal"), DeviceID: device, ReadAt: now, EndsAt: now.Add(importKept),
	}
	read := commands.ReadDeviceCustomers{DeviceID: device, ProposalID: p.ID}
	if _, err := u.Bus.Execute(ctx, read, asked.Meta); err != nil {
		return Proposal{}, err
	}
	found, err := u.Read(ctx, device)
	if err != nil {
		return Proposal{}, err
	}
	plans, err := u.Plans(ctx, asked.Org())
	if err != nil {
		return Proposal{}, err
	}
	p.Hidden = found.Hidden
	maker := newProposalMaker(&p)
	maker.plans(found.Profiles, plans)
	for _, login := range found.Logins {
		maker.login(login)
	}
	if err := u.withoutKnown(ctx, asked.Org(), maker); err != nil {
		return Proposal{}, err
	}
	maker.count()
	return p, u.keep(ctx, asked.Org(), &p, maker.customers)
}

// withoutKnown leaves out the names that customers of the organization have already.
func (u Proposals) withoutKnown(ctx context.Context, org id.Organization, m *proposalMaker) error {
	var left []proposedCustomer
	for rest := m.customers; len(rest) > 0; {
		part := rest[:min(len(rest), commands.ImportPartRows)]
		rest = rest[len(part):]
		var values subscribersviews.TakenValues
		for _, c := range part {
			values.Usernames = append(values.Usernames, c.Username)
		}
		taken, err := u.Taken(ctx, org, values)
		if err != nil {
			return err
		}
		for _, c := range part {
			if _, is := taken[unique{colUsername, c.Username}.key()]; is {
				m.leaveOut(c.Username, c.Hotspot, NoteHereAlready)
				continue
			}
			left = append(left, c)
		}
	}
	m.customers = left
	return nil
}

// keep seals the customers, and then the proposal itself: it is there when all of it is.
func (u Proposals) keep(
	ctx context.Context, org id.Organization, p *Proposal, customers []proposedCustomer,
) error {
	file := vault.File{ID: id.File(p.ID), OrgID: org, Ends: p.EndsAt}
	for rest := customers; len(rest) > 0; {
		part := rest[:min(len(rest), proposalPartRows)]
		rest = rest[len(part):]
		p.Parts++
		if err := u.put(ctx, file, p.Parts, part); err != nil {
			return err
		}
	}
	return u.put(ctx, file, 0, p)
}

// put seals a part.
func (u Proposals) put(ctx context.Context, file vault.File, part int, content any) error {
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("write part %d of proposal: %w", part, err)
	}
	return u.Files.Put(ctx, file, part, text)
}

// Get gives a proposal, with the plans that were made meanwhile. Fails: proposal_not_found.
func (u Proposals) Get(ctx context.Context, org id.Organization, of id.Proposal) (Proposal, error) {
	p, err := proposalOf(ctx, u.Files, org, of)
	if err != nil {
		return Proposal{}, err
	}
	plans, err := u.Plans(ctx, org)
	for i := range p.Plans {
		p.Plans[i].PlanID = id.Plan{}
		for _, row := range plans {
			if !row.Archived && strings.EqualFold(row.Code, p.Plans[i].Code) {
				p.Plans[i].PlanID = row.ID
			}
		}
	}
	return p, err
}

// ProposalColumns are those of Table. The last ones are empty: what a router does not know, and people may add.
var ProposalColumns = []string{
	colFirstName, colLastName, colPhone, colPlan, colUsername, colStaticIP, colPrefix, colRoutes, colMACs,
	colPaidUntil, colBalance,
}

// Table gives the customers in the columns of an import, without passwords. Fails: proposal_not_found.
func (u Proposals) Table(ctx context.Context, org id.Organization, of id.Proposal) ([][]string, error) {
	var rows [][]string
	err := proposed(ctx, u.Files, org, of, func(c proposedCustomer) {
		rows = append(rows, []string{
			c.FirstName, c.LastName, c.Phone, c.PlanCode, c.Username, c.StaticIP,
			c.Prefix, strings.Join(c.Routes, "|"), c.MAC, "", "",
		})
	})
	return rows, err
}

// proposalOf reads a proposal. Fails: proposal_not_found.
func proposalOf(
	ctx context.Context, files *vault.Files, org id.Organization, of id.Proposal,
) (Proposal, error) {
	var p Proposal
	text, err := files.Get(ctx, org, id.File(of), 0)
	switch {
	case failure.CodeOf(err) == "file_gone":
		return p, commands.ErrNoProposal()
	case err == nil:
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read proposal %s: %w", of, err)
	}
	if p.ID != of { // a file of another kind
		return Proposal{}, commands.ErrNoProposal()
	}
	return p, nil
}

// proposed reads the customers of a proposal one by one. Fails: proposal_not_found.
func proposed(
	ctx context.Context, files *vault.Files, org id.Organization, of id.Proposal, take func(proposedCustomer),
) error {
	p, err := proposalOf(ctx, files, org, of)
	if err != nil {
		return err
	}
	for part := range p.Parts {
		text, err := files.Get(ctx, org, id.File(of), part+1)
		if failure.CodeOf(err) == "file_gone" {
			return commands.ErrNoProposal()
		}
		var list []proposedCustomer
		if err == nil {
			err = json.Unmarshal(text, &list)
		}
		if err != nil {
			return fmt.Errorf("read part %d of proposal %s: %w", part+1, of, err)
		}
		for _, c := range list {
			take(c)
		}
	}
	return nil
}

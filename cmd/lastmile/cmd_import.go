package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// importCommand is `lastmile import`. It makes nothing: plans need a price, and customers go through the check of an
// import.
type importCommand struct {
	FromRouter string `required:"" help:"Id or name of the router whose profiles and users are proposed."`
	Org        string `required:"" help:"Slug of the organization that has the router."`
	Out        string `help:"File for the table of customers, which only its owner may read; none when absent."`
}

// Run reads the router and prints what can be made of it. The router is asked from this machine, as serve does; the
// passwords stay sealed in the database.
func (c importCommand) Run(ctx context.Context, p program) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	l := newLifecycle(quiet(p, cfg))
	defer l.stop()
	now := productClock(cfg)
	s, err := openStorage(ctx, cfg, now, l, storageMode{node: true, attach: true})
	if err != nil {
		return err
	}
	f, err := startFeed(ctx, s, l)
	if err != nil {
		return err
	}
	r := newProjections(s, f, now, l.logger, true)
	if err := l.start(ctx, "projections", stopEngines, r); err != nil {
		return err
	}
	device, err := c.find(ctx, r.Views())
	if err != nil {
		return err
	}
	gateway, err := routeros.New(routeros.Config{
		Guard: breaker.New(breaker.Config{Clock: now, Codes: map[string]string{
			routeros.BreakerKind: "device_unreachable",
		}}),
		Policy: routerPolicy(cfg), Clock: now, Logger: l.logger,
	})
	if err != nil {
		return err
	}
	defer gateway.Close()
	routers := networkjobs.New(networkjobs.Config{
		Views: r.Views(), Secrets: s.vault.Secrets, Gateway: gateway, Clock: now, Logger: l.logger,
		Overrides: !cfg.Production(),
	})
	cases := proposalsOn(openBus(s, now, l.logger), r.Views(), s.vault, now)
	cases.Read = routers.Customers
	made, err := cases.Make(ctx, usecases.Asked{Meta: commands.Meta{
		CommandID: id.New[id.Command](), OrgID: device.OrgID,
		Actor: events.Actor{Kind: events.ActorOperator, ID: "import"},
	}}, device.ID)
	if err != nil {
		return err
	}
	if err := c.write(ctx, cases, device.OrgID, made.ID); err != nil {
		return err
	}
	return c.tell(p.out, made, cfg.ServiceDomain)
}

// find finds the router of the organization.
func (c importCommand) find(ctx context.Context, views *runner.Views) (networkviews.DeviceRow, error) {
	var none networkviews.DeviceRow
	org, err := identityviews.OrganizationsQuery{Views: views}.OfSlug(ctx, c.Org)
	switch {
	case err != nil:
		return none, err
	case org == nil:
		return none, fmt.Errorf("there is no organization %q", c.Org)
	}
	const most = 10_000
	rows, err := networkviews.DevicesQuery{Views: views}.List(ctx, org.ID, networkviews.DeviceKey{}, most)
	if err != nil {
		return none, err
	}
	var found []networkviews.DeviceRow
	for _, row := range rows {
		if row.ID.String() == strings.ToLower(c.FromRouter) || row.Details.Name == c.FromRouter {
			found = append(found, row)
		}
	}
	switch len(found) {
	case 0:
		return none, fmt.Errorf("%s has no router %q", c.Org, c.FromRouter)
	case 1:
		return found[0], nil
	}
	return none, fmt.Errorf("several routers of %s are called %q: give the id of one", c.Org, c.FromRouter)
}

// write writes the table of customers, when a file is named.
func (c importCommand) write(
	ctx context.Context, cases subscriberscases.Proposals, org id.Organization, of id.Proposal,
) error {
	if c.Out == "" {
		return nil
	}
	rows, err := cases.Table(ctx, org, of)
	if err != nil {
		return err
	}
	text, err := sheet.Written(subscriberscases.ProposalColumns, rows)
	if err != nil {
		return err
	}
	return writePrivate(c.Out, string(text))
}

// tell prints the proposal, and how it goes on.
func (c importCommand) tell(out io.Writer, made subscriberscases.Proposal, domain string) error {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "PLAN\tKIND\tDOWN\tUP\tBURST\tCUSTOMERS\tHERE\tON THE ROUTER")
	for _, plan := range made.Plans {
		here := "no"
		if !plan.PlanID.IsZero() {
			here = "yes"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", plan.Code, plan.Kind, shownRate(plan.Speed.Down),
			shownRate(plan.Speed.Up), shownBurst(plan.Burst), plan.Customers, here, plan.Profile)
	}
	err := w.Flush()
	_, _ = fmt.Fprintf(&text, "\n%d customers; %d without a phone, %d without a password; %d users are left out\n",
		made.Customers, made.WithoutPhone, made.WithoutPassword, made.LeftOut)
	if made.Hidden {
		_, _ = fmt.Fprintln(&text,
			"The router shows its API user no passwords: give it the policy sensitive, and read again")
	}
	if len(made.Notes) > 0 {
		_, _ = fmt.Fprintln(&text)
	}
	for _, n := range made.Notes {
		word := "look at"
		if n.LeftOut {
			word = "left out"
		}
		_, _ = fmt.Fprintf(&text, "%s: %s (%s)\n", word, n.Name, n.Code)
	}
	if more := made.NoteCount - len(made.Notes); more > 0 {
		_, _ = fmt.Fprintf(&text, "and %d more\n", more)
	}
	if c.Out != "" {
		_, _ = fmt.Fprintf(&text, "\n%s has the customers, without passwords, which stay sealed here\n", c.Out)
	}
	_, _ = fmt.Fprintf(&text, "\nNothing is made yet. Until %s, "+
		"give the plans their prices and import the customers at\n/app/imports/routers/%s on %s.%s\n",
		made.EndsAt.Format(time.RFC3339), made.ID, c.Org, domain)
	_, wrote := io.WriteString(out, text.String())
	return errors.Join(err, wrote)
}

// shownRate writes a speed for people; "?" where the router has none.
func shownRate(kbits int64) string {
	if kbits == 0 {
		return "?"
	}
	return fmt.Sprintf("%d kbit/s", kbits)
}

// shownBurst writes a burst for people.
func shownBurst(b events.Burst) string {
	if b == (events.Burst{}) {
		return "-"
	}
	return fmt.Sprintf("%d/%d kbit/s", b.Down, b.Up)
}

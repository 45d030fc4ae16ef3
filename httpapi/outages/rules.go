package outagesapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/usecases/outages"
)

// rulesRequest is the body of PUT /settings/outages.
type rulesRequest struct {
	Detect       bool `json:"detect" doc:"outages begin by themselves when routers do not answer"`
	Tell         bool `json:"tell" doc:"customers are told of such outages by themselves; else when somebody says so"`
	AfterMinutes int  `json:"afterMinutes" doc:"one that ends before is not told by itself"`
	Public       bool `json:"public" doc:"the status page shows outages"`
}

// rulesShape says what is done about outages.
type rulesShape struct {
	Detect       bool `json:"detect" doc:"outages begin by themselves when routers do not answer"`
	Tell         bool `json:"tell" doc:"customers are told of such outages by themselves; else when somebody says so"`
	AfterMinutes int  `json:"afterMinutes" doc:"one that ends before is not told by itself"`
	Public       bool `json:"public" doc:"the status page shows outages"`
}

// rules answers with the present ones.
func (a Outages) rules(ctx context.Context, c *httpapi.Call) error {
	chosen, revision, err := a.Outages.Rules(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	if revision < 0 {
		c.SetNoRevision()
	} else {
		c.SetRevision(uint64(revision))
	}
	return c.Send(200, rulesShape(outagescases.PresentRules(chosen)))
}

// adopt replaces them.
func (a Outages) adopt(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[rulesRequest](c)
	if err != nil {
		return err
	}
	rules := events.OutageRules(in)
	done, err := a.Bus.Execute(ctx, commands.AdoptOutageRules{OrgID: c.Org.ID, Rules: rules}, c.Meta())
	if err != nil {
		return err
	}
	v := httpapi.Visible{Projection: outagesviews.OutagesName, ID: c.Org.ID.String(), Result: done}
	return httpapi.SendVisible(ctx, c, 200, v, func(context.Context) (rulesShape, error) {
		return rulesShape(rules), nil
	})
}

package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TaxGateways defines how documents of organizations are signed: one stream for each organization.
func TaxGateways() aggregates.Definition[TaxGateway, commands.TaxGatewayCommand, events.TaxGatewayEvent] {
	return aggregates.Definition[TaxGateway, commands.TaxGatewayCommand, events.TaxGatewayEvent]{
		Category: commands.TaxGatewayCategory, Missing: commands.ErrNoTaxGateway,
		Evolve: evolveTaxGateway, Decide: decideTaxGateway,
		Owner:    func(s TaxGateway) id.Organization { return s.Org },
		Commands: []commands.TaxGatewayCommand{commands.ConfigureTaxGateway{}},
	}
}

// TaxGateway is how the documents of one organization are signed. The zero value is "off, never configured".
type TaxGateway struct {
	Org      id.Organization
	On       bool
	Address  string
	Serial   string
	Branch   string
	Secret   id.Secret
	Messages bool
}

// evolveTaxGateway applies one recorded event.
func evolveTaxGateway(s TaxGateway, e events.TaxGatewayEvent) TaxGateway {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.TaxGatewayConfigured:
		return TaxGateway{
			Org: e.OrgID, On: e.On, Address: e.Address, Serial: e.Serial, Branch: e.Branch, Secret: e.SecretRef,
			Messages: e.Messages,
		}
	}
	return s
}

// decideTaxGateway adopts settings. Equal ones give no event.
func decideTaxGateway(
	s TaxGateway, c commands.TaxGatewayCommand, now time.Time,
) ([]events.TaxGatewayEvent, error) {
	switch c := c.(type) {
	case commands.ConfigureTaxGateway:
		adopted := events.TaxGatewayConfigured{
			OrgID: c.OrgID, On: c.On, Address: c.Address, Serial: c.Serial, Branch: c.Branch, SecretRef: c.SecretRef,
			Messages: c.Messages, At: now,
		}
		if evolveTaxGateway(TaxGateway{}, adopted) == s {
			return nil, nil
		}
		return []events.TaxGatewayEvent{adopted}, nil
	}
	return nil, nil
}

package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TaxContacts defines whether the tax gateways of organizations take documents: one stream for each organization,
// beside that of the settings, whose revision is a person's.
func TaxContacts() aggregates.Definition[TaxContact, commands.TaxContactCommand, events.TaxContactEvent] {
	return aggregates.Definition[TaxContact, commands.TaxContactCommand, events.TaxContactEvent]{
		Category: commands.TaxContactCategory, Missing: commands.ErrNoTaxGateway,
		Evolve: evolveTaxContact, Decide: decideTaxContact,
		Owner:    func(s TaxContact) id.Organization { return s.Org },
		Commands: []commands.TaxContactCommand{commands.TellTaxContact{}},
	}
}

// TaxContact tells why a gateway takes no documents. The zero value is one that has never failed.
type TaxContact struct {
	Org  id.Organization
	Code string // of the failure; "" = it takes them
}

// evolveTaxContact applies one recorded event.
func evolveTaxContact(_ TaxContact, e events.TaxContactEvent) TaxContact {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.TaxGatewayFailed:
		return TaxContact{Org: e.OrgID, Code: e.Code}
	case events.TaxGatewayAnswered:
		return TaxContact{Org: e.OrgID}
	}
	return TaxContact{}
}

// decideTaxContact records a change.
func decideTaxContact(s TaxContact, c commands.TaxContactCommand, now time.Time) ([]events.TaxContactEvent, error) {
	switch c := c.(type) {
	case commands.TellTaxContact:
		switch c.Code {
		case s.Code:
			return nil, nil
		case "":
			return []events.TaxContactEvent{events.TaxGatewayAnswered{OrgID: c.OrgID, At: now}}, nil
		}
		return []events.TaxContactEvent{events.TaxGatewayFailed{OrgID: c.OrgID, Code: c.Code, At: now}}, nil
	}
	return nil, nil
}

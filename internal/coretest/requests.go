package coretest

import (
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Ask is a new request of an organization's administrator, without a key. Each call is another administrator.
func Ask(org id.Organization) usecases.Asked {
	return usecases.Asked{Meta: commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org,
		Actor: events.Actor{Kind: events.ActorUser, ID: id.New[id.User]().String(), Role: string(events.RoleAdmin)},
	}}
}

// Keyed is Ask under a new key. The same value used twice is a repeat after a lost answer.
func Keyed(org id.Organization) usecases.Asked {
	a := Ask(org)
	a.Keyed = true
	return a
}

// Operator is the metadata of a new command of the platform's operator for an organization; zero = for the platform.
func Operator(org id.Organization) commands.Meta {
	return commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorOperator},
	}
}

// NewOrganization makes an organization in Nairobi that bills in KES, with 16 % VAT in its prices. Its invoices have
// the slug in capitals before their numbers.
func NewOrganization(org id.Organization, slug string) commands.CreateOrganization {
	return commands.CreateOrganization{OrgID: org, Slug: slug, Name: "The " + slug, Billing: events.BillingSettings{
		Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: strings.ToUpper(slug),
		Tax: events.TaxRule{Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}}},
	}}
}

// NewSubscriber makes a subscriber with an account in KES. n is from 0 and makes the account number and the phone
// number: two subscribers of a test need different ones.
func NewSubscriber(subscriber id.Subscriber, org id.Organization, n int) commands.RegisterSubscriber {
	number := commands.AccountNumber(1_000_000 + n)
	return commands.RegisterSubscriber{
		SubscriberID: subscriber, OrgID: org, AccountNumber: number, Currency: money.KES,
		Details: events.SubscriberDetails{
			FirstName: personal.Of("Somebody"), Phone: personal.Of("+2547" + number),
		},
	}
}

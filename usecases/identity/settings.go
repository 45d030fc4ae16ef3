package identitycases

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Settings changes the name and the billing settings of an organization. Safe for concurrent use.
type Settings struct {
	Bus           *bus.Bus
	Organizations identityviews.OrganizationsQuery
	// PrefixOpen reports whether an invoice with a prefix of the organization still waits for money, or for its number.
	PrefixOpen func(ctx context.Context, org id.Organization, prefix string) (bool, error)
}

// SettingsChange has the new values; nil = no change. Texts are trimmed.
type SettingsChange struct {
	Slug          *string // cannot be changed: it must be the present one
	Name          *string
	Timezone      *string
	Currency      *string // cannot be changed: it must be the present one
	Country       *string
	InvoicePrefix *string
	TaxPIN        *string
	Tax           *Tax
	Holidays      *[]calendar.Date
	SuspenseDays  *int
	StripRealm    *bool
	// SecondFactor says whether the staff needs one.
	SecondFactor *bool
}

// Tax is a tax rule as a person types it. It replaces the present one as a whole.
type Tax struct {
	Inclusive  bool
	Components []TaxComponent
}

// TaxComponent is one named tax of the rule.
type TaxComponent struct {
	Name     string
	Percent  string // a decimal with at most two places: "16", "7.5"
	Compound bool   // applied on top of the taxes before it
}

// Change changes settings: first the billing rules, which a claim or the currency may refuse, then the name and whether
// the staff needs a second factor, which cannot be refused any more. All faults of form are reported before anything is
// written. After a stop in between, the rules are new and the name is old; a repeat completes the change. Two changes
// of different fields at the same moment both count. With If-Match the billing rules are changed at that revision only.
// The result has the revision and position of the last write.
//
// Before another invoice prefix is adopted, prefixes of before are given up whose invoices are all settled, as
// ReleaseSettled does every day.
//
// Fails: organization_not_found, invalid_input, currency_fixed, invoice_prefix_taken, invoice_prefix_reserved,
// invoice_prefix_held, invoice_prefix_changed_often, stale_revision, concurrent_change.
func (s Settings) Change(ctx context.Context, asked usecases.Asked, in SettingsChange) (bus.Result, error) {
	rename := commands.RenameOrganization{OrgID: asked.Org()}
	var badName error
	if in.Name != nil {
		rename.Name = inputtext.Text(*in.Name)
		badName = rename.Validate()
	}
	if in.InvoicePrefix != nil && asked.Meta.ExpectedRevision == nil { // with If-Match nothing may come between
		if err := s.releaseSettled(ctx, asked, inputtext.Code(*in.InvoicePrefix)); err != nil {
			return bus.Result{}, err
		}
	}
	done, err := usecases.Amend(ctx, s.Bus, asked, asked.Org(),
		func(present identity.Organization) (commands.Command, error) {
			if in.Slug != nil && *in.Slug != present.Slug {
				return nil, failure.NewInvalid("invalid_input", "slug cannot be changed")
			}
			next, err := in.onto(present.Billing)
			adopt := commands.AdoptBillingSettings{OrgID: asked.Org(), Billing: next}
			return adopt, failure.JoinFaults(err, adopt.Validate(), badName)
		})
	if err != nil {
		return bus.Result{}, err
	}
	further := map[string]commands.Command{}
	if in.Name != nil {
		further["rename"] = rename
	}
	if in.SecondFactor != nil {
		further["second factor"] = commands.RequireSecondFactor{OrgID: asked.Org(), Required: *in.SecondFactor}
	}
	for _, word := range slices.Sorted(maps.Keys(further)) {
		next, err := s.Bus.Execute(ctx, further[word], asked.Step(word))
		if err != nil {
			return bus.Result{}, err
		}
		done.Position, done.Revision = max(done.Position, next.Position), next.Revision
	}
	return done, nil
}

// ReleaseSettled gives up the prefixes of before whose invoices are all settled, in every organization. It runs once a
// day. A release has its id from organization, local date and prefix, so that it acts once, however many programs run
// it and however often. An organization whose prefixes cannot be released does not keep the others waiting; the error
// tells all of them.
func (s Settings) ReleaseSettled(ctx context.Context, now time.Time) error {
	orgs, err := s.Organizations.WithOldPrefixes(ctx)
	if err != nil {
		return err
	}
	var faults []error
	for _, org := range orgs {
		today, err := usecases.RecordedSettings(s.Bus).Today(ctx, org, now)
		if err == nil {
			err = s.releaseSettled(ctx, usecases.Asked{Keyed: true, Meta: commands.Meta{
				CommandID: id.Derive[id.Command]("daily-settled-prefixes", org.String(), today.String()), OrgID: org,
				Actor: events.Actor{Kind: events.ActorProcess, ID: "settings"},
			}}, "")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("release prefixes of %v: %w", org, err))
		}
	}
	return errors.Join(faults...)
}

// releaseSettled gives up the prefixes of before whose invoices are all settled, except the one that is wanted again;
// "" is none. It does nothing for an organization that holds its present prefix only.
func (s Settings) releaseSettled(ctx context.Context, asked usecases.Asked, wanted string) error {
	org, _, err := bus.LoadOwned[identity.Organization](ctx, s.Bus, asked.Org(), asked.Org())
	if err != nil {
		return err
	}
	for _, prefix := range org.Prefixes {
		if prefix == org.Billing.InvoicePrefix || prefix == wanted {
			continue
		}
		open, err := s.PrefixOpen(ctx, org.ID, prefix)
		if err != nil {
			return err
		}
		if open {
			continue
		}
		release := commands.ReleaseInvoicePrefix{OrgID: org.ID, Prefix: prefix}
		if _, err := s.Bus.Execute(ctx, release, asked.Step("release "+prefix)); err != nil {
			return err
		}
	}
	return nil
}

// onto applies the change to the present settings.
func (in SettingsChange) onto(b events.BillingSettings) (events.BillingSettings, error) {
	set := func(to *string, from *string) {
		if from != nil {
			*to = inputtext.Text(*from)
		}
	}
	currency := string(b.Currency)
	set(&currency, in.Currency)
	b.Currency = money.Currency(currency)
	set(&b.Timezone, in.Timezone)
	set(&b.Country, in.Country)
	set(&b.InvoicePrefix, in.InvoicePrefix)
	if in.TaxPIN != nil {
		b.TaxPIN = commands.NormalTaxPIN(*in.TaxPIN)
	}
	if in.Holidays != nil {
		b.Holidays = *in.Holidays
	}
	if in.StripRealm != nil {
		b.StripRealm = *in.StripRealm
	}
	if in.SuspenseDays != nil {
		if *in.SuspenseDays < 1 {
			return b, failure.NewInvalid("invalid_input", "suspenseDays must be 1 to 90 days")
		}
		b.SuspenseDays = *in.SuspenseDays
	}
	if in.Tax == nil {
		return b, nil
	}
	var faults failure.Faults
	b.Tax = events.TaxRule{Inclusive: in.Tax.Inclusive}
	for _, t := range in.Tax.Components {
		b.Tax.Components = append(b.Tax.Components, events.TaxComponent{
			Name:        inputtext.Text(t.Name),
			BasisPoints: usecases.BasisPoints(t.Percent, "tax", &faults), Compound: t.Compound,
		})
	}
	return b, faults.Err()
}

package identitycases

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Organizations makes tenants. Safe for concurrent use.
type Organizations struct {
	Bus   *bus.Bus
	Staff Staff
}

// NewOrganization describes a tenant to be made. An empty field gets the value that is usual in Kenya.
type NewOrganization struct {
	Slug     string
	Name     string
	Timezone string         // IANA name; "" = Africa/Nairobi
	Currency money.Currency // can never be changed; "" = KES
	Country  string         // ISO 3166-1 alpha-2; "" = KE
	Admin    NewMember      // the first administrator; Role is ignored
}

// Validate checks the form of the organization and of its administrator and reports all faults together; those of the
// administrator are under "admin.".
func (in NewOrganization) Validate() error {
	return failure.JoinFaults(in.creation(id.Organization{}).Validate(), failure.Under("admin.", in.admin().Validate()))
}

// admin is the first member, always with the role admin.
func (in NewOrganization) admin() NewMember {
	in.Admin.Role = events.RoleAdmin
	return in.Admin
}

// creation is the command that makes the tenant, with the first invoice prefix to try.
func (in NewOrganization) creation(org id.Organization) commands.CreateOrganization {
	country := cmp.Or(in.Country, "KE")
	return commands.CreateOrganization{
		OrgID: org, Slug: in.Slug, Name: inputtext.Text(in.Name), Billing: events.BillingSettings{
			Timezone: cmp.Or(in.Timezone, "Africa/Nairobi"), Currency: cmp.Or(in.Currency, money.KES), Country: country,
			InvoicePrefix: invoicePrefix(in.Slug, 0), Tax: taxOf(country),
		},
	}
}

// taxOf is the tax rule that a new organization gets: prices contain the tax, which in Kenya is 16 % VAT and elsewhere
// none.
func taxOf(country string) events.TaxRule {
	if country != "KE" {
		return events.TaxRule{Inclusive: true}
	}
	return events.TaxRule{Inclusive: true, Components: []events.TaxComponent{{Name: "VAT", BasisPoints: 1600}}}
}

// Created is an organization that was made with its administrator.
type Created struct {
	ID id.Organization
	// Done has the revision of the organization's stream and the position of the later write.
	Done bus.Result
}

// Create makes an organization under the first free invoice prefix of its slug, then its first administrator: a new
// user with a temporary password, whoever else knows the address. All faults of both are reported before anything is
// written. After a stop in between, the organization has no administrator, and its slug is taken: a
// repeat under the same key completes it; without a key, a super_admin adds the administrator at the organization's own
// host. A repeat after the end makes nothing more.
//
// Fails: invalid_input, slug_taken, invoice_prefix_taken when no prefix is free, sign_in_busy.
func (o Organizations) Create(ctx context.Context, asked usecases.Asked, in NewOrganization) (Created, error) {
	if err := in.Validate(); err != nil {
		return Created{}, err
	}
	create := in.creation(usecases.NewID[id.Organization](asked, "organization"))
	done, err := o.underFreePrefix(ctx, asked, create)
	if err != nil {
		return Created{}, err
	}
	admin := in.admin()
	register := admin.registration(newUserID(asked, "admin"), create.OrgID)
	added, err := o.Staff.add(ctx, asked, register, admin.TemporaryPassword)
	if err != nil {
		return Created{}, fmt.Errorf("add administrator: %w", err)
	}
	// The administrator was counted on the organization's stream, after its creation.
	_, revision, err := bus.LoadOwned[identity.Organization](ctx, o.Bus, create.OrgID, create.OrgID)
	if err != nil {
		return Created{}, err
	}
	done.Position, done.Revision = max(done.Position, added.Position), revision
	return Created{ID: create.OrgID, Done: done}, nil
}

// maxPrefixTries bounds the search for a free invoice prefix.
const maxPrefixTries = 100

// underFreePrefix creates the organization under the first free invoice prefix of its slug. It tries one after another,
// since only the claim of a prefix shows whether it is free.
func (o Organizations) underFreePrefix(
	ctx context.Context, asked usecases.Asked, create commands.CreateOrganization,
) (bus.Result, error) {
	for try := 0; ; try++ {
		create.Billing.InvoicePrefix = invoicePrefix(create.Slug, try)
		done, err := o.Bus.Execute(ctx, create, asked.Meta)
		taken := failure.CodeOf(err) == "invoice_prefix_taken" || failure.CodeOf(err) == "invoice_prefix_reserved"
		if !taken || try == maxPrefixTries {
			return done, err
		}
	}
}

// invoicePrefix makes 2 to 6 capitals or digits of a slug, not digits alone and not a reserved word, which get an N
// before them; a number makes a difference between slugs that begin alike. The prefix is well formed for any slug, so
// that a bad slug is reported as such and not as a bad prefix, which the caller did not give.
func invoicePrefix(slug string, n int) string {
	letters := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToUpper(slug))
	if strings.Trim(letters[:min(4, len(letters))], "0123456789") == "" || commands.ReservedPrefix(letters) {
		letters = "N" + letters
	}
	for len(letters) < 2 {
		letters += "X"
	}
	if n == 0 {
		return letters[:min(6, len(letters))]
	}
	number := fmt.Sprint(n + 1)
	return letters[:min(6-len(number), len(letters))] + number
}

package cpeviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CPERow is one CPE of an organization, or a pending one.
type CPERow struct {
	ID             id.CPE          `db:"cpe_id"`
	SerialNumber   string          `db:"serial_number"`
	OUI            string          `db:"oui"`
	ProductClass   string          `db:"product_class"`
	Manufacturer   string          `db:"manufacturer"` // "" = it has not said so
	Model          string          `db:"model"`        // the same
	Firmware       string          `db:"firmware"`     // the same
	OrgID          id.Organization `db:"org_id"`       // zero = pending
	OrgSlug        *string         `db:"slug"`
	SubscriberID   id.Subscriber   `db:"subscriber_id"`
	SubscriptionID id.Subscription `db:"subscription_id"`
	Label          *string         `db:"label"`
	Location       *string         `db:"location"`
	FirstSeen      time.Time       `db:"first_seen"`
	ClaimedAt      *time.Time      `db:"claimed_at"`
	SignIn         int             `db:"sign_in"`        // counts passwords at the CPE server that are worth nothing
	SignInProven   bool            `db:"sign_in_proven"` // it has shown the present one, and must from then on
	Revision       int64           `db:"revision"`
	// Username and PlanCode are nil, and PasswordRef zero, when the subscription has ended or does not exist, and
	// Username also when the person was forgotten.
	Username    *string   `db:"username"`
	PasswordRef id.Secret `db:"password_ref"`
	PlanCode    *string   `db:"plan_code"`
}

// Tags are those that the CPE has at the CPE server.
func (r CPERow) Tags() []string { return r.Told().Tags() }

// Told leaves out what is for people only.
func (r CPERow) Told() Told {
	return Told{
		OrgID: r.OrgID, OrgSlug: null.Zero(r.OrgSlug), SignIn: r.SignIn, SignInProven: r.SignInProven,
		Username: null.Zero(r.Username), PasswordRef: r.PasswordRef, PlanCode: null.Zero(r.PlanCode),
	}
}

// CPEKey is a row's place in a list, newest first: of pending ones by their first call, of others by their claim. The
// zero value starts at the newest row.
type CPEKey struct {
	At time.Time `json:"a"`
	ID id.CPE    `json:"i"`
}

// Key makes the next page begin after this row.
func (r CPERow) Key() CPEKey {
	if r.ClaimedAt != nil {
		return CPEKey{At: *r.ClaimedAt, ID: r.ID}
	}
	return CPEKey{At: r.FirstSeen, ID: r.ID}
}

// CPEFilter narrows a list. A zero field does not restrict it, but Among finds nothing when it is empty and not nil.
type CPEFilter struct {
	SubscriberID id.Subscriber
	Of           []id.Subscriber // that a customer sees; nil = all
	Model        string
	Firmware     string
	Serial       string   // the beginning, in any case
	Among        []id.CPE // nil = all
	Except       []id.CPE
}

// CPEsQuery serves CPEs.
type CPEsQuery struct{ Views *runner.Views }

// cpeSelect fits CPERow; a condition follows.
const cpeSelect = `
select c.cpe_id, c.serial_number, c.oui, c.product_class, c.manufacturer, c.model, c.firmware, c.org_id, o.slug,
	c.subscriber_id, c.subscription_id, c.label, c.location, c.first_seen, c.claimed_at, c.sign_in, c.sign_in_proven,
	c.revision, l.username, l.password_ref, p.code as plan_code
from {schema}.cpes c left join {schema}.organizations o on o.org_id = c.org_id
	left join {schema}.lines l on l.subscription_id = c.subscription_id and l.subscriber_id = c.subscriber_id
		and l.org_id = c.org_id and not l.ended
	left join {schema}.plans p on p.plan_id = l.plan_id and p.org_id = l.org_id
where `

// Get returns a CPE of an organization; nil when it has none with this id.
func (q CPEsQuery) Get(ctx context.Context, org id.Organization, cpe id.CPE) (*CPERow, error) {
	var row *CPERow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[CPERow],
			q.Views.SQL(CPEsName, cpeSelect+`c.cpe_id = $1 and c.org_id = $2`), cpe, org)
	})
	return row, err
}

// Any returns a CPE, whoever has it: for the platform, and for the CPE itself.
func (q CPEsQuery) Any(ctx context.Context, cpe id.CPE) (*CPERow, error) {
	var row *CPERow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[CPERow],
			q.Views.SQL(CPEsName, cpeSelect+`c.cpe_id = $1`), cpe)
	})
	return row, err
}

// Some returns those of some CPEs that are known, whoever has them: for the platform's work with the CPE server.
func (q CPEsQuery) Some(ctx context.Context, cpes []id.CPE) ([]CPERow, error) {
	var rows []CPERow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CPERow],
			q.Views.SQL(CPEsName, cpeSelect+`c.cpe_id = any($1)`), cpes)
	})
	return rows, err
}

// OfSubscription returns the CPEs of an organization that use a login.
func (q CPEsQuery) OfSubscription(
	ctx context.Context, org id.Organization, line id.Subscription,
) ([]CPERow, error) {
	var rows []CPERow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CPERow],
			q.Views.SQL(CPEsName, cpeSelect+`c.org_id = $1 and c.subscription_id = $2 order by c.cpe_id`), org, line)
	})
	return rows, err
}

// List returns up to max CPEs of an organization after a key, the latest claims first.
func (q CPEsQuery) List(
	ctx context.Context, org id.Organization, f CPEFilter, after CPEKey, max int,
) ([]CPERow, error) {
	var rows []CPERow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CPERow], q.Views.SQL(CPEsName, cpeSelect+`c.org_id = @org
			and (@subscriber::uuid is null or c.subscriber_id = @subscriber::uuid)
			and (@of::uuid[] is null or c.subscriber_id = any(@of::uuid[]))
			and (@model = '' or c.model = @model) and (@firmware = '' or c.firmware = @firmware)
			and (@serial = '' or c.serial_upper >= @serial and c.serial_upper < @serial_to)
			and (@among::uuid[] is null or c.cpe_id = any(@among::uuid[]))
			and (@except::uuid[] is null or c.cpe_id <> all(@except::uuid[]))
			and (@at::timestamptz is null or (c.claimed_at, c.cpe_id) < (@at::timestamptz, @id::uuid))
			order by c.claimed_at desc, c.cpe_id desc limit @max`), pgx.NamedArgs{
			"org": org, "subscriber": f.SubscriberID, "of": f.Of, "model": f.Model, "firmware": f.Firmware,
			"serial": f.Serial, "serial_to": searchterm.End(f.Serial), "among": f.Among,
			"except": f.Except, "at": null.Time(after.At), "id": after.ID, "max": max,
		})
	})
	return rows, err
}

// Firmware counts the CPEs of an organization by their version; "" = it is not known. A version that none has is left
// out.
func (q CPEsQuery) Firmware(ctx context.Context, org id.Organization) (map[string]int, error) {
	var counts map[string]int
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &counts, q.Views.SQL(CPEsName, `select version, cpes from {schema}.firmware
			where org_id = $1 and cpes > 0`), org)
	})
	return counts, err
}

// Serials gives the serial numbers of some CPEs of an organization; one that it has not is left out.
func (q CPEsQuery) Serials(
	ctx context.Context, org id.Organization, cpes []id.CPE,
) (map[id.CPE]string, error) {
	var serials map[id.CPE]string
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &serials, q.Views.SQL(CPEsName, `select cpe_id, serial_number from {schema}.cpes
			where org_id = $1 and cpe_id = any($2)`), org, cpes)
	})
	return serials, err
}

// Find queues a search for up to max CPEs of an organization whose serial number begins with a text.
func (q CPEsQuery) Find(r *postgres.Reads, into *[]CPERow, org id.Organization, text string, max int) {
	serial := Serial(text)
	postgres.Collect(r, into, pgx.RowToStructByName[CPERow], q.Views.SQL(CPEsName, cpeSelect+`c.org_id = $1
		and $2 <> '' and c.serial_upper >= $2 and c.serial_upper < $3 order by c.serial_upper, c.cpe_id limit $4`),
		org, serial, searchterm.End(serial), max)
}

package subscribersviews

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// order is one of SubscriberSorts in SQL: what lies behind a key, and the order. Each has an index.
type order struct{ behind, by string }

// orders has the SQL of each sort.
var orders = map[string]order{
	"newest": {
		`(s.created_at, s.subscriber_id) < (@created, @id)`, `s.created_at desc, s.subscriber_id desc`,
	},
	"name": {`(s.name_key, s.subscriber_id) > (@name, @id)`, `s.name_key, s.subscriber_id`},
	"paidUntil": {
		`(s.paid_key, s.subscriber_id) > (coalesce(@paid::timestamptz, 'infinity'), @id)`,
		`s.paid_key, s.subscriber_id`,
	},
	"balance": {
		`(s.balance_minor, s.subscriber_id) < (@balance, @id)`, `s.balance_minor desc, s.subscriber_id desc`,
	},
}

// accessSQL is the access of a subscriber s at the instant @now, as a place in SubscriberAccesses; null without a
// service.
const accessSQL = `s.access_level[width_bucket(@now::timestamptz, s.access_from)]`

// listSQL builds the statement of List. Every value is a parameter, none is part of the text. The services are read for
// the rows of the page only.
func listSQL(org id.Organization, f SubscriberFilter, after SubscriberKey, max int) (string, pgx.NamedArgs) {
	args := pgx.NamedArgs{"org": org, "max": max, "now": f.Now}
	where := append([]string{`s.org_id = @org`}, f.conditions(args)...)
	by, known := orders[f.Sort]
	if !known {
		by = orders[SubscriberSorts[0]]
	}
	if !after.ID.IsZero() {
		where = append(where, by.behind)
		args["id"], args["created"], args["name"] = after.ID, after.CreatedAt, after.Name
		args["paid"], args["balance"] = after.PaidUntil, after.Balance
	}
	return `select ` + subscriberColumns + `, ` + servicesSQL + `
		from (select * from {schema}.subscribers s where ` + strings.Join(where, " and ") + ` order by ` + by.by + `
			limit @max) s
		order by ` + by.by, args
}

// conditions lists what the filter asks for, and adds its values to the arguments.
func (f SubscriberFilter) conditions(args pgx.NamedArgs) []string {
	where := f.ofWords(args)
	when := func(asked bool, condition, name string, value any) {
		if asked {
			where, args[name] = append(where, condition), value
		}
	}
	when(f.Among != nil, `s.subscriber_id = any(@among)`, "among", f.Among)
	when(f.Status != "", `s.status = @status`, "status", f.Status)
	when(f.Tag != "", `exists (select from {schema}.tags g where g.org_id = @org and g.tag = @tag
		and g.subscriber_id = s.subscriber_id)`, "tag", f.Tag)
	for level, access := range SubscriberAccesses {
		when(f.Access == access, accessSQL+` = @level`, "level", level)
	}
	if f.Plan.IsZero() {
		when(f.State != "", `s.subscriber_id in (select x.subscriber_id from {schema}.services x
			where x.org_id = @org and x.shown and x.state = @state)`, "state", f.State)
	} else {
		when(true, `s.subscriber_id in (select x.subscriber_id from {schema}.services x
			where x.org_id = @org and x.shown and x.plan_id = @plan and @state in ('', x.state))`, "plan", f.Plan)
		args["state"] = f.State
	}
	when(!f.PaidBefore.IsZero(), `s.paid_key < @before`, "before", f.PaidBefore)
	when(!f.PaidFrom.IsZero(), `s.paid_key >= @from and s.paid_key < 'infinity'`, "from", f.PaidFrom)
	return append(where, f.yesOrNo()...)
}

// yesOrNo lists the conditions that have no value.
func (f SubscriberFilter) yesOrNo() []string {
	var where []string
	when := func(asked *bool, yes, no string) {
		if asked != nil && *asked {
			where = append(where, yes)
		} else if asked != nil {
			where = append(where, no)
		}
	}
	when(f.Owes, `s.balance_minor > 0`, `s.balance_minor <= 0`)
	online := `exists (select from ({open}) o where o.subscriber_id = s.subscriber_id)`
	when(f.Online, online, `not `+online)
	return where
}

// ofWords lists the conditions of the search.
func (f SubscriberFilter) ofWords(args pgx.NamedArgs) []string {
	var where []string
	words := typed(f.Search)
	if len(words) == 0 && f.Search != "" { // the search has no letter and no digit: nothing matches
		where = append(where, `false`)
	}
	for i, word := range words {
		begins := termBegins(args, fmt.Sprint("word", i), word.Text)
		if word.Or != "" {
			begins += " or " + termBegins(args, fmt.Sprint("or", i), word.Or)
		}
		where = append(where, `s.subscriber_id in (select t.subscriber_id from {schema}.terms t
			where t.org_id = @org and (`+begins+`))`)
	}
	return where
}

// termBegins is the condition that a term t begins with a text. It adds the range to the arguments by a name.
func termBegins(args pgx.NamedArgs, name, text string) string {
	args[name], args[name+"_end"] = text, searchterm.End(text)
	return `t.term >= @` + name + ` and t.term < @` + name + `_end`
}

// SubscriberCounts counts the customers of an organization. Those who have no service have no access that is counted.
type SubscriberCounts struct {
	Total        int64 `db:"total"`
	Full         int64 `db:"full_access"`
	Throttled    int64 `db:"throttled"`
	WalledGarden int64 `db:"walled_garden"`
	None         int64 `db:"no_access"`
	Online       int64 `db:"online"`
	Owing        int64 `db:"owing"` // with a balance above zero
	New          int64 `db:"new"`   // registered since an instant
}

// countsSQL reads each customer once, and looks once for his access.
const countsSQL = `select coalesce(sum(n), 0) as total,
		coalesce(sum(n) filter (where level = 3), 0) as full_access,
		coalesce(sum(n) filter (where level = 2), 0) as throttled,
		coalesce(sum(n) filter (where level = 1), 0) as walled_garden,
		coalesce(sum(n) filter (where level = 0), 0) as no_access,
		coalesce(sum(owing), 0) as owing, coalesce(sum(registered), 0) as new,
		(select count(distinct o.subscriber_id) from ({open}) o
			join {schema}.subscribers s on s.subscriber_id = o.subscriber_id and s.org_id = @org) as online
	from (select ` + accessSQL + ` as level, count(*) as n,
			count(*) filter (where s.balance_minor > 0) as owing,
			count(*) filter (where s.created_at >= @since) as registered
		from {schema}.subscribers s where s.org_id = @org group by 1) s`

// Counts counts the customers at an instant; new are those who were registered since another one.
func (q SubscribersQuery) Counts(
	ctx context.Context, org id.Organization, now, since time.Time,
) (SubscriberCounts, error) {
	var counts SubscriberCounts
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		r.Serial()
		postgres.CollectOne(r, &counts, pgx.RowToStructByName[SubscriberCounts], q.text(countsSQL),
			pgx.NamedArgs{"org": org, "now": now, "since": since})
	})
	return counts, err
}

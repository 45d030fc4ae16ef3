package billingcases

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Corrections reports what members of the staff gave away. Safe for concurrent use.
type Corrections struct {
	Settings    usecases.SettingsOf
	Corrections billingviews.CorrectionsQuery
	Users       identityviews.UsersQuery
	Clock       clock.Clock
}

// CorrectionsReport has what was given away by day, member of staff and kind of act.
type CorrectionsReport struct {
	From     calendar.Date
	To       calendar.Date
	Currency money.Currency
	Rows     []billingviews.CorrectionRow // the newest day first
	Kinds    []CorrectionSum              // of all days and people, in the order of their names
	All      CorrectionSum
	Names    map[id.User]string // a user unknown to the organization is absent
}

// CorrectionSum sums up acts of a kind; "" = of all.
type CorrectionSum struct {
	Kind     string
	Count    int
	SumMinor int64
	Approved int // of Count: those to which a second person agreed
}

// add counts a row.
func (s *CorrectionSum) add(r billingviews.CorrectionRow) {
	s.Count, s.SumMinor, s.Approved = s.Count+r.Count, s.SumMinor+r.SumMinor, s.Approved+r.Approved
}

// Report sums up the days that are asked for, today when none is. Fails: organization_not_found, invalid_input.
func (u Corrections) Report(
	ctx context.Context, org id.Organization, in CollectionsInput,
) (out CorrectionsReport, err error) {
	settings, err := u.Settings(ctx, org)
	if err != nil {
		return out, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return out, err
	}
	days, err := in.days(calendar.On(u.Clock.Now(), zone))
	if err != nil {
		return out, err
	}
	out = CorrectionsReport{From: days[0], To: days[len(days)-1], Currency: settings.Currency}
	if out.Rows, err = u.Corrections.Days(ctx, org, out.From, out.To, zone); err != nil {
		return out, err
	}
	kinds, users := map[string]*CorrectionSum{}, map[id.User]bool{}
	for _, row := range out.Rows {
		if kinds[row.Kind] == nil {
			kinds[row.Kind] = &CorrectionSum{Kind: row.Kind}
		}
		kinds[row.Kind].add(row)
		out.All.add(row)
		users[row.UserID] = true
	}
	for _, sum := range kinds {
		out.Kinds = append(out.Kinds, *sum)
	}
	slices.SortFunc(out.Kinds, func(a, b CorrectionSum) int { return cmp.Compare(a.Kind, b.Kind) })
	out.Names, err = u.Users.Names(ctx, org, slices.Collect(maps.Keys(users)))
	return out, err
}

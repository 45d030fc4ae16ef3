package subscriberscases

import (
	"strings"
	"unicode"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// soldPlans finds plans by what a file calls them.
type soldPlans struct {
	byID   map[id.Plan]subscribersviews.PlanRow
	byCode map[string]subscribersviews.PlanRow // in small letters
	byName map[string][]subscribersviews.PlanRow
}

// soldOf leaves archived plans out.
func soldOf(plans []subscribersviews.PlanRow) soldPlans {
	sold := soldPlans{
		byID: map[id.Plan]subscribersviews.PlanRow{}, byCode: map[string]subscribersviews.PlanRow{},
		byName: map[string][]subscribersviews.PlanRow{},
	}
	for _, p := range plans {
		if p.Archived {
			continue
		}
		name := loosely(p.Terms.Name)
		sold.byID[p.ID] = p
		sold.byCode[strings.ToLower(p.Code)] = p
		sold.byName[name] = append(sold.byName[name], p)
	}
	return sold
}

// find gives the plan with a code or, when no plan has it, the only one with a name; otherwise it says what is wrong.
func (s soldPlans) find(text string) (plan subscribersviews.PlanRow, fault string) {
	if plan, known := s.byCode[strings.ToLower(text)]; known {
		return plan, ""
	}
	switch named := s.byName[loosely(text)]; len(named) {
	case 0:
		return plan, "is no plan that is sold here"
	case 1:
		return named[0], ""
	}
	return plan, "is the name of several plans: give the code of one"
}

// loosely is a text as people compare names: without capitals and spaces.
func loosely(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

package subscribersviews

import (
	"context"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loginname"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// holdersSQL finds the subscriptions that sign in with some names. One that has ended keeps its name until somebody
// else takes it, and then comes before the one that has it now.
const holdersSQL = `select s.username_term as username, s.subscriber_id
from unnest($2::text[]) n (term) join {schema}.terms t on t.org_id = $1 and t.term = n.term
join {schema}.subscriptions s using (subscription_id)
where s.username is not null order by s.state <> 'ended', s.created_at`

// Holders gives the subscribers of an organization who sign in with some usernames, by the username as it was asked.
// One that nobody has is left out. Capital letters make no difference.
func (q SubscriptionsQuery) Holders(
	ctx context.Context, org id.Organization, usernames []string,
) (map[string]id.Subscriber, error) {
	terms := usernameTerms(usernames)
	var held map[string]id.Subscriber
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		sql := q.Views.SQL(SubscriptionsName, holdersSQL)
		postgres.CollectMap(r, &held, sql, org, terms)
	})
	if err != nil {
		return nil, err
	}
	out := make(map[string]id.Subscriber, len(held))
	for i, name := range usernames {
		if subscriber, ok := held[terms[i]]; ok {
			out[name] = subscriber
		}
	}
	return out, nil
}

// usernameTerm is a username as it is searched for: a MAC address as all others are, any other name in small letters.
func usernameTerm(name string) string {
	if name = loginname.Fold(name); loginname.IsMAC(name) {
		return name
	}
	return searchterm.Cut(strings.ToLower(name))
}

// usernameTerms are the terms of some usernames, in their order; never nil.
func usernameTerms(names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = usernameTerm(name)
	}
	return list
}

// folded are the forms in which equal usernames are the same, in their order; never nil.
func folded(names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = loginname.Fold(name)
	}
	return list
}

package identityviews

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// OrganizationFound is an organization that a search has found.
type OrganizationFound struct {
	ID        id.Organization `db:"org_id"`
	Slug      string          `db:"slug"`
	Name      string          `db:"name"`
	Suspended bool            `db:"suspended"`
	// Match says what was found.
	Match searchterm.Match `db:"-"`
}

// Find gives up to max organizations of the platform whose slug begins with a text, or in whose name each word begins a
// word, in the order of their slugs. There are so few of them that all are compared.
func (q OrganizationsQuery) Find(ctx context.Context, text string, max int) ([]OrganizationFound, error) {
	var rows []OrganizationFound
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[OrganizationFound], q.Views.SQL(OrganizationsName,
			`select org_id, slug, name, suspended from {schema}.organizations order by slug`))
	})
	words := searchterm.Typed(text)
	rows = slices.DeleteFunc(rows, func(o OrganizationFound) bool { return o.found(text, words).By == "" })
	rows = rows[:min(len(rows), max)]
	for i := range rows {
		rows[i].Match = rows[i].found(text, words)
	}
	return rows, err
}

// found says what of an organization a search has found; it is zero for one that does not fit.
func (o OrganizationFound) found(text string, words []string) searchterm.Match {
	if slug := strings.ToLower(strings.TrimSpace(text)); slug != "" && strings.HasPrefix(o.Slug, slug) {
		return searchterm.Match{By: "slug", Whole: o.Slug == slug}
	}
	if begin, whole := searchterm.Begin(words, searchterm.Words(o.Name)); begin {
		return searchterm.Match{By: "name", Whole: whole}
	}
	return searchterm.Match{}
}

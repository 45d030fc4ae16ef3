package identityviews

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// UserRow is somebody who can sign in, as the platform sees the user. Personal columns are "" when forgotten.
type UserRow struct {
	ID                 id.User `db:"user_id"`
	Email              string  `db:"email"`
	Phone              string  `db:"phone"`
	FirstName          string  `db:"first_name"`
	LastName           string  `db:"last_name"`
	SuperAdmin         bool    `db:"super_admin"`
	MustChangePassword bool    `db:"must_change_password"`
	// Home is the organization that registered the user; zero for an administrator of the platform.
	Home id.Organization `db:"home"`
	// Person is the user that stands for the person of the address; zero while the address is unproven.
	Person id.User `db:"person"`
}

// PasswordOf is the user under whose id the vault has the password: all users of a proven person share one.
func (r UserRow) PasswordOf() id.User {
	if !r.Person.IsZero() {
		return r.Person
	}
	return r.ID
}

// MemberRow is a user who may act in an organization, as the organization sees the user.
type MemberRow struct {
	OrgID              id.Organization `db:"org_id"`
	ID                 id.User         `db:"user_id"`
	Email              string          `db:"email"`
	Phone              string          `db:"phone"`
	FirstName          string          `db:"first_name"`
	LastName           string          `db:"last_name"`
	Role               events.Role     `db:"role"`
	Status             string          `db:"status"` // "active", "pending" (not accepted yet), "disabled"
	MustChangePassword bool            `db:"must_change_password"`
	TemporaryUntil     *time.Time      `db:"temporary_until"` // the end of a temporary password; nil = an own one
	MemberSince        time.Time       `db:"member_since"`
	SecondFactor       bool            `db:"second_factor"`
	LastSignInAt       *time.Time      `db:"last_sign_in_at"` // nil = never
	Revision           int64           `db:"revision"`        // of the user's stream
}

// MemberKey is a row's place in the list, newest first. The zero value starts at the newest row.
type MemberKey struct {
	MemberSince time.Time `json:"s"`
	ID          id.User   `json:"i"`
}

// Key makes the next page begin after this row.
func (r MemberRow) Key() MemberKey { return MemberKey{MemberSince: r.MemberSince, ID: r.ID} }

// UsersQuery serves users to the platform and members to their organization.
type UsersQuery struct{ Views *runner.Views }

// The columns that fit UserRow and MemberRow.
const (
	userColumns   = `user_id, email, phone, first_name, last_name, super_admin, must_change_password, home, person`
	memberColumns = `org_id, user_id, email, phone, first_name, last_name, role, must_change_password,
		temporary_until, member_since, second_factor, last_sign_in_at, revision,
		case when disabled then 'disabled' when pending then 'pending' else 'active' end as status`
)

// AtHost finds who signs in with an address at an organization's host, nil when there is nobody: the user that the
// organization registered, else a proven person who is a member. Unproven users of other organizations do not exist
// there.
func (q UsersQuery) AtHost(ctx context.Context, org id.Organization, email string) (*UserRow, error) {
	return q.one(ctx, `select `+userColumns+` from {schema}.users u where email = $1 and email <> '' and (home = $2
			or person is not null and exists (
				select from {schema}.members m where m.org_id = $2 and m.user_id = u.user_id))
		order by home = $2 desc, registered_at limit 1`, email, org)
}

// RegisteredBy finds the user that an organization has registered under an address, nil when there is none. It looks at
// nobody else's users.
func (q UsersQuery) RegisteredBy(ctx context.Context, org id.Organization, email string) (*UserRow, error) {
	return q.one(ctx, `select `+userColumns+` from {schema}.users where email = $1 and email <> '' and home = $2
		order by registered_at limit 1`, email, org)
}

// OfAddress lists all users of an address on the platform: an administrator of the platform first, then the user that
// stands for the proven person, then the others by age. Answers to an organization must not show it.
func (q UsersQuery) OfAddress(ctx context.Context, email string) ([]UserRow, error) {
	return q.list(ctx, `select `+userColumns+` from {schema}.users where email = $1 and email <> ''
		order by super_admin desc, person = user_id desc nulls last, registered_at, user_id`, email)
}

// OfPhone lists the users whom an organization has registered under a phone number, or all organizations for a zero id,
// those first who sign in with it alone, then by age. Administrators of the platform are none of them.
func (q UsersQuery) OfPhone(ctx context.Context, org id.Organization, phone string) ([]UserRow, error) {
	var rows []UserRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[UserRow], q.Views.SQL(UsersName, `select `+userColumns+`
			from {schema}.users where phone = $1 and phone <> '' and not super_admin and ($2::uuid is null or home = $2)
			order by email <> '', registered_at, user_id`), phone, org)
	})
	return rows, err
}

// OfPerson lists all users that were proven to be one person, the given one included.
func (q UsersQuery) OfPerson(ctx context.Context, person id.User) ([]UserRow, error) {
	return q.list(ctx, `select `+userColumns+` from {schema}.users where person = $1 order by registered_at, user_id`,
		person)
}

// list reads users with the platform role.
func (q UsersQuery) list(ctx context.Context, sql string, arg any) ([]UserRow, error) {
	var rows []UserRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[UserRow], q.Views.SQL(UsersName, sql), arg)
	})
	return rows, err
}

// ByID finds a user of the platform, nil when there is none.
func (q UsersQuery) ByID(ctx context.Context, user id.User) (*UserRow, error) {
	return q.one(ctx, `select `+userColumns+` from {schema}.users where user_id = $1`, user)
}

// one reads at most one user, with the platform role.
func (q UsersQuery) one(ctx context.Context, sql string, args ...any) (*UserRow, error) {
	var row *UserRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[UserRow], q.Views.SQL(UsersName, sql), args...)
	})
	return row, err
}

// Member returns one member of an organization, nil when the user is none.
func (q UsersQuery) Member(ctx context.Context, org id.Organization, user id.User) (*MemberRow, error) {
	var row *MemberRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[MemberRow],
			q.Views.SQL(UsersName, `select `+memberColumns+` from {schema}.members where org_id = $1 and user_id = $2`),
			org, user)
	})
	return row, err
}

// MemberFilter narrows the list of members. A zero field does not restrict it; several fields must all fit.
type MemberFilter struct {
	Role   events.Role // "" = all but those who see the portal alone, of whom there are thousands
	Status string      // "invited", "active" or "disabled", as the organization sees it
	Text   string      // part of the name, the e-mail address or the phone, in any case
}

// shownStatus has the status of a member as the organization sees it. Invited are those who have not chosen a password,
// and those who have not accepted a membership of before records were kept apart.
const shownStatus = `case when disabled then 'disabled' when pending or must_change_password then 'invited'
	else 'active' end`

// membersSQL lists members. An organization has few of them beside customers, so a text is compared with all.
const membersSQL = `select ` + memberColumns + ` from {schema}.members m
	where org_id = @org and (@since::timestamptz is null or (member_since, user_id) < (@since, @user))
		and (role = @role or @role = '' and (email <> '' or phone = '')
			and not exists (select from {schema}.portal p where p.org_id = @org and p.user_id = m.user_id))
		and (@status = '' or @status = ` + shownStatus + `)
		and (@text = '' or strpos(lower(concat_ws(' ', first_name, last_name, email, phone)), lower(@text)) > 0)
	order by member_since desc, user_id desc limit @max`

// Members returns up to max members of an organization after a key, newest first.
func (q UsersQuery) Members(
	ctx context.Context, org id.Organization, f MemberFilter, after MemberKey, max int,
) ([]MemberRow, error) {
	var rows []MemberRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[MemberRow], q.Views.SQL(UsersName, membersSQL), pgx.NamedArgs{
			"org": org, "since": null.Time(after.MemberSince), "user": after.ID, "max": max, "role": string(f.Role),
			"status": f.Status, "text": f.Text,
		})
	})
	return rows, err
}

// StaffSummary is how much an organization is used by its own people.
type StaffSummary struct {
	Staff        int        `db:"staff"` // administrators and support who are not disabled
	LastSignInAt *time.Time `db:"last_sign_in_at"`
}

// Summary counts the staff of an organization, for the platform.
func (q UsersQuery) Summary(ctx context.Context, org id.Organization) (s StaffSummary, err error) {
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectOne(r, &s, pgx.RowToStructByName[StaffSummary], q.Views.SQL(UsersName, `
			select count(*) filter (where not disabled and role in ('admin', 'support'))::int as staff,
				max(last_sign_in_at) as last_sign_in_at
			from {schema}.members where org_id = $1`), org)
	})
	return s, err
}

// Names returns the full names of members of an organization, and of administrators of the platform, who act there,
// too. Other users and forgotten ones are missing in the result.
func (q UsersQuery) Names(ctx context.Context, org id.Organization, users []id.User) (map[id.User]string, error) {
	ids := id.Texts(users)
	if len(ids) == 0 {
		return nil, nil
	}
	type named struct {
		ID   id.User `db:"user_id"`
		Name string  `db:"name"`
	}
	var members, administrators []named
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &members, pgx.RowToStructByName[named],
			q.Views.SQL(UsersName, `select user_id, trim(first_name || ' ' || last_name) as name from {schema}.members
			where org_id = $1 and user_id = any($2::uuid[])`), org, ids)
	})
	if err == nil && len(members) < len(ids) {
		err = q.Views.Platform(ctx, func(r *postgres.Reads) {
			postgres.Collect(r, &administrators, pgx.RowToStructByName[named],
				q.Views.SQL(UsersName, `select user_id, trim(first_name || ' ' || last_name) as name from {schema}.users
				where super_admin and user_id = any($1::uuid[])`), ids)
		})
	}
	names := make(map[id.User]string, len(members))
	for _, row := range slices.Concat(administrators, members) {
		if row.Name != "" {
			names[row.ID] = row.Name
		}
	}
	return names, err
}

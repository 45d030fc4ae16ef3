package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// rolesLock is the advisory lock under which roles are created. It is the same for all namespaces, since roles belong
// to the whole cluster.
const rolesLock int64 = 0x6c6173746d696c65

// roleState has the facts about a role that decide whether it can be used as it is.
type roleState struct {
	Exists bool
	Unsafe bool // superuser or may bypass row-level security
	Member bool // the login role may SET ROLE to it
}

// From PostgreSQL 16 on, a member may lack the right to SET ROLE.
const roleStateSQL = `
select count(*) > 0                                                as exists,
       coalesce(bool_or(rolsuper or rolbypassrls), false)          as unsafe,
       coalesce(bool_or(pg_has_role(current_user, oid, case
           when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)), false) as member
from pg_roles where rolname = $1`

// ensureRoles creates the query and platform roles and makes the login role a member. Several programs may do it at
// the same moment, also from different databases of the cluster.
func ensureRoles(ctx context.Context, pool *pgxpool.Pool) error {
	for attempt := 0; ; attempt++ {
		err := tryEnsureRoles(ctx, pool)
		if err == nil || attempt == 5 || !lostRoleRace(err) {
			return err
		}
	}
}

// tryEnsureRoles makes one attempt in one transaction, which may lose a race against another program.
func tryEnsureRoles(ctx context.Context, pool *pgxpool.Pool) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		for _, role := range []string{QueryRole, PlatformRole} {
			if err := ensureRole(ctx, tx, role); err != nil {
				return err
			}
		}
		return nil
	})
}

// ensureRole creates a role and makes the login role a member of it. It takes the lock only when something is missing.
func ensureRole(ctx context.Context, tx pgx.Tx, role string) error {
	state, err := loadRole(ctx, tx, role)
	if err != nil {
		return err
	}
	if !state.Exists || !state.Member {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, rolesLock); err != nil {
			return fmt.Errorf("lock roles: %w", err)
		}
		if state, err = loadRole(ctx, tx, role); err != nil {
			return err
		}
	}
	if state.Unsafe {
		return fmt.Errorf("role %s is a superuser or bypasses row-level security; run: alter role %s nosuperuser "+
			"nobypassrls", role, role)
	}
	if !state.Exists {
		if _, err := tx.Exec(ctx, createRoleSQL(role)); err != nil {
			return explainRole(err)
		}
	}
	if !state.Member {
		if _, err := tx.Exec(ctx, "grant "+role+" to current_user"); err != nil {
			return explainRole(err)
		}
	}
	return nil
}

// loadRole reads the facts about a role; the zero value when the role does not exist.
func loadRole(ctx context.Context, tx pgx.Tx, role string) (roleState, error) {
	rows, _ := tx.Query(ctx, roleStateSQL, role)
	state, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[roleState])
	if err != nil {
		return roleState{}, fmt.Errorf("look up role %s: %w", role, err)
	}
	return state, nil
}

// createRoleSQL gives the statement that creates one of the two roles.
func createRoleSQL(role string) string {
	return "create role " + role + " nologin nosuperuser nocreatedb nocreaterole nobypassrls"
}

// explainRole turns "permission denied" into the SQL to run by hand.
func explainRole(err error) error {
	if Code(err) != noPrivilege {
		return fmt.Errorf("create database roles: %w", err)
	}
	var b strings.Builder
	b.WriteString("the database user may not create roles. Run this once as a database administrator, then start " +
		"again:\n")
	for _, role := range []string{QueryRole, PlatformRole} {
		fmt.Fprintf(&b, "  %s;\n  grant %s to <the user of DATABASE_URL>;\n", createRoleSQL(role), role)
	}
	return fmt.Errorf("%s(%w)", b.String(), err)
}

// lostRoleRace reports whether an error means that another program made the same change at the same moment. A new
// attempt then sees that change.
func lostRoleRace(err error) bool {
	switch Code(err) {
	case "23505", "42710", "XX000": // unique violation, duplicate object, "tuple concurrently updated"
		return true
	}
	return false
}

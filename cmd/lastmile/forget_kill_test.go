package main

import (
	"context"
	"testing"
)

// TestForget_GoesOnAfterAKillAtEachPoint: when the request is answered, when the event is in the read model, and when
// the key is gone. The next program goes on by itself; then nothing names the person, and a repeat changes nothing.
func TestForget_GoesOnAfterAKillAtEachPoint(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	program := k.spawn(freePort(t))
	k.signIn()
	vault := k.db.Namespace.Schema("vault")
	for n, point := range []string{
		`select true`,
		`select exists (select from ` + vault + `.subject_erasures where subject = $1)`,
		`select exists (select from ` + k.db.Namespace.Schema("river") + `.river_job
			where kind = 'subscribers_erase_person' and strpos(args::text, $1) > 0)`,
	} {
		name := []string{"Wambui", "Nafula", "Atieno"}[n]
		who := k.plain("+25471100088"+string(rune('1'+n)), name)
		k.seen(who.subscriber, map[string]string{"phone": who.phone})
		k.must(k.admin, "POST", forgetPath(who.subscriber), because3March())
		k.eventually("the moment of the kill", func(ctx context.Context) (there bool, err error) {
			args := []any{who.subscriber}
			if n == 0 {
				args = nil
			}
			err = k.db.Owner.QueryRow(ctx, point, args...).Scan(&there)
			return there, err
		})
		program.kill9()
		program = k.spawn(freePort(t))
		k.admin, _ = k.login("acme", testAdminEmail, testPassword)
		k.erased(who.subscriber)
		k.eventually("the person to be shown as forgotten", func(ctx context.Context) (bool, error) {
			s, err := k.admin.call(ctx, "GET", "/subscribers/"+who.subscriber, "", nil)
			return s.text("status") == "forgotten" && s["firstName"] == nil && s["phone"] == nil, err
		})
		k.eventually("the sign-in to be erased", func(ctx context.Context) (bool, error) {
			var left int
			err := k.db.Owner.QueryRow(ctx, `select count(*) from `+k.db.Namespace.Schema("river")+`.river_job
				where kind in ('subscribers_erase_person', 'identity_erase_user') and state <> 'completed'
					and scheduled_at < now()`).Scan(&left)
			return left == 0, err
		})
		k.must(k.admin, "POST", forgetPath(who.subscriber), map[string]any{"reason": "once more"})
		k.unnamed(who)
	}
}

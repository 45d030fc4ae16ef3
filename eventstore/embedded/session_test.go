package embedded

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestSession_CommitsDurably: the node replaces the setting "off" by "on"; every other setting stays.
func TestSession_CommitsDurably(t *testing.T) {
	t.Parallel()
	for configured, want := range map[string]string{
		"off": "on", "on": "on", "local": "local", "remote_apply": "remote_apply",
	} {
		config, err := pgx.ParseConfig(pgtest.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		config.RuntimeParams["synchronous_commit"] = configured
		s := &sessions{config: config}
		conn, err := s.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := conn.QueryRow(t.Context(), `show synchronous_commit`).Scan(&got); err != nil || got != want {
			t.Errorf("configured %s: %s, %v; want %s", configured, got, err, want)
		}
		_ = conn.Close(t.Context())
	}
}

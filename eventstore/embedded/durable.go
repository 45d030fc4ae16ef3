package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// errUndurable means that the server can lose acknowledged events in a power loss, which production does not accept.
var errUndurable = errors.New("in production an acknowledged event must survive power loss")

// lasting selects the settings of the server that are off and without which a commit does not survive power loss, or a
// page that was half written is lost. No session can change them, and the server may have other ones after a restart or
// after a fail-over.
const lasting = `select coalesce(string_agg(name, ' and ' order by name), '') from pg_settings
	where name in ('fsync', 'full_page_writes') and setting = 'off'`

// checkDurable refuses a server that can lose what it has committed: in production by errUndurable, elsewhere by one
// warning for each change.
func (s *sessions) checkDurable(ctx context.Context, conn *pgx.Conn) error {
	var off string
	if err := conn.QueryRow(ctx, lasting).Scan(&off); err != nil {
		return fmt.Errorf("look at fsync and full_page_writes: %w", err)
	}
	if off != "" && s.production {
		return fmt.Errorf("event store: PostgreSQL runs with %s off; %w", off, errUndurable)
	}
	if off != "" && off != s.off {
		s.log.WarnContext(ctx, "event store database can lose events in a power loss",
			"off", strings.Split(off, " and "))
	}
	s.off = off
	return nil
}

package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

func TestFail_WithoutTheDatabaseItIs503AndWorthAnotherTry(t *testing.T) {
	t.Parallel()
	_, away := pgx.Connect(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=1")
	for name, c := range map[string]struct {
		err    error
		status int
	}{
		"nobody listens":      {fmt.Errorf("read: %w", away), 503},
		"it is shutting down": {fmt.Errorf("read: %w", &pgconn.PgError{Code: "57P01"}), 503},
		"the disk is full":    {fmt.Errorf("read: %w", &pgconn.PgError{Code: "53100"}), 503},
		"a missing table":     {fmt.Errorf("write: %w", &pgconn.PgError{Code: "42P01"}), 503},
		"no transaction ids":  {fmt.Errorf("write: %w", &pgconn.PgError{Code: "54000"}), 503},
		"a conflict":          {fmt.Errorf("write: %w", &pgconn.PgError{Code: "40P01"}), 503},
		"a wrong value":       {fmt.Errorf("write: %w", &pgconn.PgError{Code: "22021"}), 500},
		"a wrong statement":   {fmt.Errorf("read: %w", &pgconn.PgError{Code: "42703"}), 500},
	} {
		k := apitest.New(t, nil, []httpapi.Route{
			{Method: http.MethodGet, Path: "/fails", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
				Summary: "Fails", Handle: func(context.Context, *httpapi.Call) error { return c.err }},
		})
		got := k.Do(t, apitest.Request{Path: "/fails", As: apitest.Admin})
		if got.Status != c.status || c.status == 503 &&
			(got.Header.Get("Retry-After") == "" || got.Code() != "database_unavailable") {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
}

// A page that is left while it loads fails nothing. A request that was cut off from inside, with its client there,
// does.
func TestFail_AClientThatHasGoneIsNoErrorOfTheProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leaves        bool
		status, level string
	}{
		"gone":  {true, `"status":499`, `"level":"INFO"`},
		"there": {false, `"status":500`, `"level":"ERROR"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, leave := context.WithCancel(t.Context())
			defer leave()
			k := apitest.New(t, nil, []httpapi.Route{
				{Method: http.MethodGet, Path: "/reads", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
					Summary: "Reads", Handle: func(ctx context.Context, _ *httpapi.Call) error {
						if c.leaves {
							leave()
							<-ctx.Done()
						}
						return fmt.Errorf("read rows: %w", context.Canceled)
					}},
			})
			r := httptest.NewRequestWithContext(client, http.MethodGet, "http://"+apitest.Acme+"/reads", nil)
			r.Header.Set("Authorization", "Bearer "+apitest.Admin)
			k.Server.ServeHTTP(httptest.NewRecorder(), r)
			text := k.Log.String()
			if !strings.Contains(text, c.status) || !strings.Contains(text, c.level) ||
				strings.Contains(text, "request failed") == c.leaves {
				t.Errorf("log %s", text)
			}
		})
	}
}

func TestFail_DetailsAreFieldsOfTheAnswerAndReplaceNoneOfItsOwn(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, []httpapi.Route{
		{Method: http.MethodGet, Path: "/refuses", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Refuses", Handle: func(context.Context, *httpapi.Call) error {
				return failure.NewConflict("needs_word", "Say the word.").With("code", "other").With("affectedSessions",
					3)
			}},
	})
	got := k.Do(t, apitest.Request{Path: "/refuses", As: apitest.Admin})
	var body map[string]any
	got.Into(t, &body)
	want := map[string]any{
		"statusCode": 409.0, "message": "Say the word.", "error": "Conflict", "code": "needs_word",
		"affectedSessions": 3.0,
	}
	if diff := cmp.Diff(want, body); diff != "" || got.Status != http.StatusConflict {
		t.Errorf("status %d\n%s", got.Status, diff)
	}
}

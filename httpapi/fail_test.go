package httpapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

func TestFail_DetailsAreFieldsOfTheAnswerAndReplaceNoneOfItsOwn(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, []httpapi.Route{{Method: http.MethodGet, Path: "/refuses", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
		Summary: "Refuses", Handle: func(context.Context, *httpapi.Call) error {
			return failure.NewConflict("needs_word", "Say the word.").With("code", "other").With("affectedSessions", 3)
		}}})
	got := k.Do(t, apitest.Request{Path: "/refuses", As: apitest.Admin})
	var body map[string]any
	got.Into(t, &body)
	want := map[string]any{"statusCode": 409.0, "message": "Say the word.", "error": "Conflict", "code": "needs_word", "affectedSessions": 3.0}
	if diff := cmp.Diff(want, body); diff != "" || got.Status != http.StatusConflict {
		t.Errorf("status %d\n%s", got.Status, diff)
	}
}

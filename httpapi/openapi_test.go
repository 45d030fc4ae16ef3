package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestOpenAPI_AnEnumOfAFieldThatMayBeNullHasNull(t *testing.T) {
	t.Parallel()
	type tide struct {
		Now  string  `json:"now" enum:"low,high"`
		Next *string `json:"next" enum:"low,high"`
	}
	k := apitest.New(t, nil, []httpapi.Route{{
		Method: "GET", Path: "/tide", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport, Summary: "The tide",
		Response: tide{}, Handle: func(_ context.Context, c *httpapi.Call) error { return c.Send(200, tide{}) },
	}})
	var doc struct {
		Components struct {
			Schemas struct {
				Tide struct {
					Properties map[string]struct{ Enum []any }
				}
			}
		}
	}
	k.Do(t, apitest.Request{Path: "/openapi.json"}).Into(t, &doc)
	of := doc.Components.Schemas.Tide.Properties
	if diff := cmp.Diff([]any{"low", "high"}, of["now"].Enum); diff != "" {
		t.Errorf("always a text (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"low", "high", nil}, of["next"].Enum); diff != "" {
		t.Errorf("may be null (-want +got):\n%s", diff)
	}
}

func TestOpenAPI_OnlyAnIDThatMayBeMissingIsNullable(t *testing.T) {
	t.Parallel()
	type boat struct {
		ID    id.Device    `json:"id"`
		Owner *id.User     `json:"owner"`
		Role  *events.Role `json:"role"`
	}
	k := apitest.New(t, nil, []httpapi.Route{{
		Method: "GET", Path: "/boat", Hosts: httpapi.OnOrganization, Access: httpapi.AccessPublic, Summary: "The boat",
		Response: boat{}, Handle: func(_ context.Context, c *httpapi.Call) error {
			return c.Send(200, boat{ID: id.New[id.Device]()})
		},
	}})
	var doc struct {
		Components struct {
			Schemas struct {
				Boat struct{ Properties map[string]any }
			}
		}
	}
	k.Do(t, apitest.Request{Path: "/openapi.json"}).Into(t, &doc)
	want := map[string]any{
		"id":    map[string]any{"type": "string", "format": "uuid"},
		"owner": map[string]any{"type": []any{"string", "null"}, "format": "uuid"},
		"role": map[string]any{
			"type": []any{"string", "null"}, "enum": []any{"super_admin", "admin", "support", "subscriber", nil},
		},
	}
	if diff := cmp.Diff(want, doc.Components.Schemas.Boat.Properties); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := k.Do(t, apitest.Request{Path: "/boat"}); got.Status != 200 {
		t.Errorf("the boat: %d %s", got.Status, got.Body)
	}
}

func TestOpenAPI_IsTheRoutersTable(t *testing.T) {
	t.Parallel()
	k := apitest.New(t, nil, apitest.NewParcels().Routes(), system(nil).Routes())
	for host, kind := range map[string]httpapi.Hosts{
		apitest.Acme: httpapi.OnOrganization, apitest.Domain: httpapi.OnRoot,
	} {
		var doc struct {
			OpenAPI    string
			Paths      map[string]map[string]json.RawMessage
			Components struct{ Schemas map[string]json.RawMessage }
		}
		k.Do(t, apitest.Request{Path: "/openapi.json", Host: host}).Into(t, &doc)
		var listed, served []string
		for path, operations := range doc.Paths {
			for method := range operations {
				listed = append(listed, strings.ToUpper(method)+" "+path)
			}
		}
		for _, r := range k.Server.Routes() {
			if r.Hosts&kind != 0 {
				served = append(served, r.Method+" "+braces(r.Path))
			}
		}
		slices.Sort(listed)
		slices.Sort(served)
		if diff := cmp.Diff(served, listed); diff != "" || doc.OpenAPI != "3.1.0" {
			t.Errorf("%s (-served +listed):\n%s", host, diff)
		}
		for _, ref := range strings.Split(fmt.Sprintf("%s", doc.Paths), "#/components/schemas/")[1:] {
			if name, _, _ := strings.Cut(ref, `"`); doc.Components.Schemas[name] == nil {
				t.Errorf("%s: no schema %s", host, name)
			}
		}
	}
}

// braces writes a pattern in the form of OpenAPI, with {id} for :id.
func braces(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

func TestOpenAPI_TwoStructsOfOneNameAreRefused(t *testing.T) {
	t.Parallel()
	route := func(path string, answer any) httpapi.Route {
		return httpapi.Route{Method: "GET", Path: path, Hosts: httpapi.OnOrganization, Access: httpapi.AccessPublic,
			Summary: "A ship", Response: answer, Handle: apitest.Ok}
	}
	ferry := func() any {
		type ship struct {
			Cars int `json:"cars"`
		}
		return ship{}
	}
	type ship struct {
		Sails int `json:"sails"`
	}
	k := apitest.New(t, nil, apitest.NewParcels().Routes())
	described := func(routes ...httpapi.Route) error {
		server, err := httpapi.New(k.Config(), routes)
		if err != nil {
			t.Fatal(err)
		}
		_, err = server.OpenAPI(httpapi.OnOrganization)
		return err
	}
	err := described(route("/ferry", ferry()), route("/yacht", ship{}))
	if err == nil || !strings.Contains(err.Error(), "would both be the schema Ship: rename one") {
		t.Errorf("got %v", err)
	}
	if err := described(route("/yacht", ship{}), route("/boat", ship{})); err != nil {
		t.Errorf("one struct at two addresses: %v", err)
	}
}

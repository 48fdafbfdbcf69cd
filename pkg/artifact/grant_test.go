package artifact

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/frame"
)

func TestCheckGrant(t *testing.T) {
	ca := []byte("-----BEGIN CERTIFICATE-----\n")
	const ref = "oci://registry.example:5000/app"
	authenticated := Use{Reference: ref, Authenticated: true}
	good := Grants{Registry: "registry.example:5000"}
	cases := map[string]struct {
		grants  Grants
		use     Use
		code    frame.Code // empty: accepted
		message string
	}{
		"authenticated":             {good, authenticated, "", ""},
		"host case is ignored":      {Grants{Registry: "Registry.EXAMPLE:5000"}, authenticated, "", ""},
		"anonymous needs no grant":  {Grants{}, Use{Reference: ref}, "", ""},
		"anonymous plain HTTP":      {Grants{}, Use{Reference: ref, PlainHTTP: true}, "", ""},
		"anonymous CA":              {Grants{}, Use{Reference: ref, CA: ca}, "", ""},
		"hub needs its real host":   {Grants{Registry: "registry-1.docker.io"}, Use{Reference: "oci://docker.io/x/y", Authenticated: true}, "", ""},
		"hub alias is not the host": {Grants{Registry: "docker.io"}, Use{Reference: "oci://docker.io/x/y", Authenticated: true}, frame.CodeRegistryGrantRefused, "registry-1.docker.io"},
		"missing":                   {Grants{}, authenticated, frame.CodeRegistryGrantRefused, `"registry" is missing`},
		"another registry":          {Grants{Registry: "other.example:5000"}, authenticated, frame.CodeRegistryGrantRefused, "another registry"},
		"port is not collapsed":     {Grants{Registry: "registry.example"}, authenticated, frame.CodeRegistryGrantRefused, "another registry"},
		"default port is a port":    {Grants{Registry: "registry.example:443"}, Use{Reference: "oci://registry.example/app", Authenticated: true}, frame.CodeRegistryGrantRefused, "another registry"},
		"trailing dot is kept":      {Grants{Registry: "registry.example."}, Use{Reference: "oci://registry.example/app", Authenticated: true}, frame.CodeRegistryGrantRefused, "another registry"},
		"scheme":                    {Grants{Registry: "https://registry.example:5000"}, authenticated, frame.CodeRegistryGrantRefused, "not host[:port]"},
		"path":                      {Grants{Registry: "registry.example:5000/app"}, authenticated, frame.CodeRegistryGrantRefused, "not host[:port]"},
		"user information":          {Grants{Registry: "u:hunter2@registry.example"}, authenticated, frame.CodeRegistryGrantRefused, "not host[:port]"},
		"newline":                   {Grants{Registry: "registry.example:5000\n"}, authenticated, frame.CodeRegistryGrantRefused, "not host[:port]"},

		"plain HTTP allowed":          {Grants{Registry: good.Registry, AllowPlainHTTP: "true"}, Use{Reference: ref, Authenticated: true, PlainHTTP: true}, "", ""},
		"plain HTTP not granted":      {good, Use{Reference: ref, Authenticated: true, PlainHTTP: true}, frame.CodeRegistryGrantRefused, `"allowPlainHTTP" is missing`},
		"plain HTTP nearly granted":   {Grants{Registry: good.Registry, AllowPlainHTTP: "True"}, Use{Reference: ref, Authenticated: true, PlainHTTP: true}, frame.CodeRegistryGrantRefused, "exactly"},
		"plain HTTP denied":           {Grants{Registry: good.Registry, AllowPlainHTTP: "false"}, Use{Reference: ref, Authenticated: true, PlainHTTP: true}, frame.CodeRegistryGrantRefused, "exactly"},
		"plain HTTP grant unused":     {Grants{Registry: good.Registry, AllowPlainHTTP: "true"}, authenticated, "", ""},
		"plain HTTP grant is garbage": {Grants{Registry: good.Registry, AllowPlainHTTP: "yes"}, authenticated, frame.CodeRegistryGrantRefused, "neither"},
		"plain HTTP grant with a CA":  {Grants{Registry: good.Registry, AllowPlainHTTP: "true", CASHA256: Digest(ca)}, Use{Reference: ref, Authenticated: true, CA: ca}, frame.CodeRegistryGrantRefused, "exclude"},

		"CA granted":            {Grants{Registry: good.Registry, CASHA256: Digest(ca)}, Use{Reference: ref, Authenticated: true, CA: ca}, "", ""},
		"CA not granted":        {good, Use{Reference: ref, Authenticated: true, CA: ca}, frame.CodeRegistryGrantRefused, `"caSHA256" is missing`},
		"CA without newline":    {Grants{Registry: good.Registry, CASHA256: Digest(bytes.TrimSpace(ca))}, Use{Reference: ref, Authenticated: true, CA: ca}, frame.CodeRegistryGrantRefused, "another CA"},
		"CA digest upper case":  {Grants{Registry: good.Registry, CASHA256: strings.ToUpper(Digest(ca))}, Use{Reference: ref, Authenticated: true, CA: ca}, frame.CodeRegistryGrantRefused, "64 lower-case"},
		"CA digest is garbage":  {Grants{Registry: good.Registry, CASHA256: "x"}, authenticated, frame.CodeRegistryGrantRefused, "64 lower-case"},
		"CA with plain HTTP":    {good, Use{Reference: ref, PlainHTTP: true, CA: ca}, frame.CodeConfigurationInvalid, "exclude"},
		"CA is empty":           {good, Use{Reference: ref, CA: []byte{}}, frame.CodeConfigurationInvalid, "empty"},
		"CA is too large":       {good, Use{Reference: ref, CA: make([]byte, MaxCA+1)}, frame.CodeConfigurationInvalid, "1 MiB"},
		"reference is no good":  {good, Use{Reference: "registry.example/app"}, frame.CodeConfigurationInvalid, "oci://"},
		"reference with secret": {good, Use{Reference: "oci://u:hunter2@registry.example/app"}, frame.CodeConfigurationInvalid, "user information"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := CheckGrant(tc.grants, tc.use)
			if tc.code == "" {
				require.NoError(t, err)
				return
			}
			requireCode(t, err, tc.code, tc.message)
		})
	}
}

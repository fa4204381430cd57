package main

import "testing"

func TestJoin(t *testing.T) {
	for _, tt := range []struct{ ruled, told, want string }{
		{``, ``, ``},
		{`{"permissionDecision":"deny"}`, ``, `{"permissionDecision":"deny"}`},
		{``, `{"additionalContext":"b"}`, `{"additionalContext":"b"}`},
		{`{"additionalContext":"a <&>"}`, `{"additionalContext":"b"}`, `{"additionalContext":"a <&>\n\nb"}`},
		{`{"decision":"block","reason":"no"}`, `{"additionalContext":"b"}`, `{"additionalContext":"b","decision":"block","reason":"no"}`},
		{`{"decision":"block","reason":"no"}`, `{"handled":true,"responseContent":"b"}`, `{"decision":"block","reason":"no"}`},
		{`{"modifiedPrompt":"x"}`, `{"handled":true,"responseContent":"b"}`, `{"handled":true,"modifiedPrompt":"x","responseContent":"b"}`},
	} {
		got, err := join([]byte(tt.ruled), []byte(tt.told))
		if err != nil || string(got) != tt.want {
			t.Errorf("join(%s, %s) = %s, %v; want %s", tt.ruled, tt.told, got, err, tt.want)
		}
	}
	if _, err := join([]byte(`{`), []byte(`{}`)); err == nil {
		t.Error("half a document is joined")
	}
}

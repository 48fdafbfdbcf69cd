package state

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecord(t *testing.T) {
	dir := Dir(filepath.Join(t.TempDir(), "c"))
	require.NoError(t, dir.Make("logs"))
	var got map[string]int
	found, err := dir.Load(&got)
	require.NoError(t, err)
	assert.False(t, found)
	require.NoError(t, dir.Save(map[string]int{"a": 1}))
	found, err = dir.Load(&got)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, map[string]int{"a": 1}, got)
	require.NoError(t, os.WriteFile(dir.Path(recordFile), []byte("{"), 0o600))
	_, err = dir.Load(&got)
	assert.ErrorContains(t, err, dir.Path(recordFile))
}

func TestLockKeepsOthersOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.lock")
	first, err := Acquire(path)
	require.NoError(t, err)
	second := make(chan *Lock)
	go func() {
		lock, err := Acquire(path)
		assert.NoError(t, err)
		second <- lock
	}()
	select {
	case <-second:
		t.Fatal("two holders of one lock")
	case <-time.After(50 * time.Millisecond):
	}
	// The file goes with the lock; who waited for the old file must end up with a new one.
	first.Release(true)
	lock := <-second
	require.FileExists(t, path)
	lock.Release(true)
	assert.NoFileExists(t, path)
}

func TestCopyProgramReplacesARunningOne(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	require.NoError(t, os.WriteFile(from, []byte("#!/bin/sh\n"), 0o755))
	require.NoError(t, CopyProgram(from, to))
	before, err := os.Stat(to)
	require.NoError(t, err)
	require.NoError(t, CopyProgram(from, to))
	after, err := os.Stat(to)
	require.NoError(t, err)
	assert.False(t, os.SameFile(before, after), "a running program's file must not be written to")
	assert.NotZero(t, after.Mode().Perm()&0o100)
}

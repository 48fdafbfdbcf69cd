package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Sizes of the memory-backed volumes. What lies in one is charged to the container that wrote it, so their limits leave room for it.
const (
	runnerSize  = "128Mi"
	workSize    = "128Mi" // an artifact is at most 64 MiB
	scratchSize = "64Mi"
	caSize      = "2Mi" // a bundle is at most 1 MiB
)

const (
	readable   int32 = 0o444
	groupReads int32 = 0o440
)

func (s *Source) customCA() bool { return s.Transport != nil && s.Transport.CAFrom != nil }

func (s *Source) dockerMode() bool {
	return s.Auth != nil && authMode(s.Auth) == v1alpha1.RegistryAuthDockerConfigJSON
}

// grants are the keys of the registry's Secret that say what its credential may be used for. Their names are fixed.
func (s *Source) grants() []corev1.EnvVar {
	if s.Auth == nil {
		return nil
	}
	return []corev1.EnvVar{
		secretEnv(v1alpha1.GrantRegistryEnv, s.Auth.Name, v1alpha1.RegistryGrantKey),
		secretEnv(v1alpha1.GrantAllowPlainHTTPEnv, s.Auth.Name, v1alpha1.AllowPlainHTTPGrantKey),
		secretEnv(v1alpha1.GrantCASHA256Env, s.Auth.Name, v1alpha1.CASHA256GrantKey),
	}
}

// credentials are the registry's credentials as variables; in DockerConfigJSON mode they come as a file instead.
func (s *Source) credentials() []corev1.EnvVar {
	if s.Auth == nil || s.dockerMode() {
		return nil
	}
	return []corev1.EnvVar{
		secretEnv(v1alpha1.RegistryUsernameEnv, s.Auth.Name, or(s.Auth.UsernameKey, "username")),
		secretEnv(v1alpha1.RegistryPasswordEnv, s.Auth.Name, or(s.Auth.PasswordKey, "password")),
		secretEnv(v1alpha1.RegistryTokenEnv, s.Auth.Name, or(s.Auth.TokenKey, "token")),
	}
}

func (s *Source) dockerConfig() []corev1.VolumeMount {
	if !s.dockerMode() {
		return nil
	}
	return []corev1.VolumeMount{{Name: v1alpha1.DockerConfigVolume, MountPath: v1alpha1.DockerConfigPath, ReadOnly: true}}
}

// caSnapshot mounts the CA's source and the place for its snapshot, in the container that takes the snapshot.
func (s *Source) caSnapshot() []corev1.VolumeMount {
	if !s.customCA() {
		return nil
	}
	return []corev1.VolumeMount{
		{Name: v1alpha1.CASourceVolume, MountPath: v1alpha1.CASourceMountPath, ReadOnly: true},
		{Name: v1alpha1.CAVolume, MountPath: v1alpha1.CAMountPath},
	}
}

func (r Request) volumes() []corev1.Volume {
	volumes := []corev1.Volume{memory(v1alpha1.ScratchVolume, scratchSize)}
	if r.opensDatabase() {
		volumes = append(volumes, memory(v1alpha1.RunnerVolume, runnerSize))
	}
	if r.fetches() {
		volumes = append(volumes, memory(v1alpha1.WorkVolume, workSize))
	}
	if s := r.Source; s != nil {
		if s.customCA() {
			ca := s.Transport.CAFrom
			volumes = append(volumes, memory(v1alpha1.CAVolume, caSize), configMap(v1alpha1.CASourceVolume, ca.Name, ca.Key, v1alpha1.CAFileName))
		}
		if s.dockerMode() {
			volumes = append(volumes, secret(v1alpha1.DockerConfigVolume, s.Auth.Name,
				or(s.Auth.DockerConfigJSONKey, corev1.DockerConfigJsonKey), v1alpha1.DockerConfigFileName))
		}
	}
	if r.Policy != nil {
		volumes = append(volumes, configMap(v1alpha1.PolicyVolume, r.Policy.From.Name, r.Policy.From.Key, v1alpha1.PolicyFileName))
	}
	if r.Plan != nil {
		for _, ref := range r.Plan.Chunks {
			volumes = append(volumes, configMap(chunkVolume(ref.Index), ref.Name, ref.Key, ref.Key))
		}
	}
	return volumes
}

func chunkVolume(index int32) string { return fmt.Sprintf("%s%03d", v1alpha1.PlanVolumePrefix, index) }

func memory(name, size string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
		Medium: corev1.StorageMediumMemory, SizeLimit: ptr(resource.MustParse(size)),
	}}}
}

// configMap projects one key. Like secretEnv it is optional for the kubelet, so that the runner can say what is missing.
func configMap(name, object, key, path string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: object}, Items: []corev1.KeyToPath{{Key: key, Path: path}},
		DefaultMode: ptr(readable), Optional: ptr(true),
	}}}
}

func secret(name, object, key, path string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: object, Items: []corev1.KeyToPath{{Key: key, Path: path}}, DefaultMode: ptr(groupReads), Optional: ptr(true),
	}}}
}

func or(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

"""An expression of GLSL on the Vulkan driver that VK_ICD_FILENAMES names. Needs PyPI's vulkan, glslangValidator and numpy."""

import subprocess

import numpy as np
import vulkan as vk

TYPES = {np.dtype(np.float32): "float", np.dtype(np.int32): "int", np.dtype(np.uint32): "uint"}
BUFFER = vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
HOST = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT

application = vk.VkApplicationInfo(apiVersion=vk.VK_MAKE_VERSION(1, 1, 0))
instance = vk.vkCreateInstance(vk.VkInstanceCreateInfo(pApplicationInfo=application), None)
physical = vk.vkEnumeratePhysicalDevices(instance)[0]
name = vk.vkGetPhysicalDeviceProperties(physical).deviceName
device = vk.vkCreateDevice(physical, vk.VkDeviceCreateInfo(pQueueCreateInfos=[
    vk.VkDeviceQueueCreateInfo(queueFamilyIndex=0, pQueuePriorities=[1.0])]), None)


def _buffer(data):
    """The buffer and its mapped memory."""
    buffer = vk.vkCreateBuffer(device, vk.VkBufferCreateInfo(size=data.nbytes, usage=vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT), None)
    needs = vk.vkGetBufferMemoryRequirements(device, buffer)
    types = vk.vkGetPhysicalDeviceMemoryProperties(physical).memoryTypes
    kind = next(i for i in range(32) if needs.memoryTypeBits >> i & 1 and types[i].propertyFlags & HOST == HOST)
    memory = vk.vkAllocateMemory(device, vk.VkMemoryAllocateInfo(allocationSize=needs.size, memoryTypeIndex=kind), None)
    vk.vkBindBufferMemory(device, buffer, memory, 0)
    mapped = vk.vkMapMemory(device, memory, 0, data.nbytes, 0)
    mapped[:] = data.tobytes()
    return buffer, mapped


def evaluate(expression, *inputs, result=np.float32):
    """The expression of x, y and z, which are the elements of `inputs`, for each element."""
    arrays = [np.asarray(array) for array in inputs] + [np.zeros(len(inputs[0]), result)]
    names = "xyz"[:len(inputs)] + "r"
    source = ["#version 450", "layout(local_size_x = 1) in;"]
    for i, (letter, array) in enumerate(zip(names, arrays)):
        source.append(f"layout(std430, binding = {i}) buffer B{i} {{ {TYPES[array.dtype]} all_{letter}[]; }};")
    source.append("void main() { uint i = gl_WorkGroupID.x;")
    source += [f"{TYPES[array.dtype]} {letter} = all_{letter}[i];" for letter, array in zip(names[:-1], arrays)]
    source.append(f"all_r[i] = {expression}; }}")
    with open("shader.comp", "w") as file:
        file.write("\n".join(source))
    subprocess.run(["glslangValidator", "-V", "shader.comp", "-o", "shader.spv"], check=True, capture_output=True)
    with open("shader.spv", "rb") as file:
        code = file.read()

    module = vk.vkCreateShaderModule(device, vk.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code), None)
    layout = vk.vkCreateDescriptorSetLayout(device, vk.VkDescriptorSetLayoutCreateInfo(pBindings=[
        vk.VkDescriptorSetLayoutBinding(binding=i, descriptorType=BUFFER, descriptorCount=1,
                                        stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT) for i in range(len(arrays))]), None)
    pipeline_layout = vk.vkCreatePipelineLayout(device, vk.VkPipelineLayoutCreateInfo(pSetLayouts=[layout]), None)
    stage = vk.VkPipelineShaderStageCreateInfo(stage=vk.VK_SHADER_STAGE_COMPUTE_BIT, module=module, pName="main")
    pipeline = vk.vkCreateComputePipelines(
        device, None, 1, [vk.VkComputePipelineCreateInfo(stage=stage, layout=pipeline_layout)], None)[0]
    pool = vk.vkCreateDescriptorPool(device, vk.VkDescriptorPoolCreateInfo(maxSets=1, pPoolSizes=[
        vk.VkDescriptorPoolSize(type=BUFFER, descriptorCount=len(arrays))]), None)
    chosen = vk.vkAllocateDescriptorSets(device, vk.VkDescriptorSetAllocateInfo(descriptorPool=pool, pSetLayouts=[layout]))[0]
    buffers = [_buffer(array) for array in arrays]
    vk.vkUpdateDescriptorSets(device, len(arrays), [
        vk.VkWriteDescriptorSet(dstSet=chosen, dstBinding=i, descriptorCount=1, descriptorType=BUFFER, pBufferInfo=[
            vk.VkDescriptorBufferInfo(buffer=buffer, offset=0, range=arrays[i].nbytes)])
        for i, (buffer, _) in enumerate(buffers)], 0, None)
    commands_pool = vk.vkCreateCommandPool(device, vk.VkCommandPoolCreateInfo(queueFamilyIndex=0), None)
    commands = vk.vkAllocateCommandBuffers(device, vk.VkCommandBufferAllocateInfo(
        commandPool=commands_pool, level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1))[0]
    vk.vkBeginCommandBuffer(commands, vk.VkCommandBufferBeginInfo())
    vk.vkCmdBindPipeline(commands, vk.VK_PIPELINE_BIND_POINT_COMPUTE, pipeline)
    vk.vkCmdBindDescriptorSets(commands, vk.VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_layout, 0, 1, [chosen], 0, None)
    vk.vkCmdDispatch(commands, len(arrays[-1]), 1, 1)
    vk.vkEndCommandBuffer(commands)
    queue = vk.vkGetDeviceQueue(device, 0, 0)
    vk.vkQueueSubmit(queue, 1, [vk.VkSubmitInfo(pCommandBuffers=[commands])], None)
    vk.vkQueueWaitIdle(queue)
    return np.frombuffer(bytes(buffers[-1][1]), result)
